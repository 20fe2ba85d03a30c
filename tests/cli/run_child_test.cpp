// SPDX-License-Identifier: Apache-2.0
// What a command finds when it is started, and that it does not outlive the program.
#include "cli/server_test.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

class TheCommand : public on_server {};
HOLDFAST_ON_EACH_SERVER(TheCommand);

TEST_P(TheCommand, InheritsNoDescriptorOfOurs) {
    // 3 is the folder that ls reads.
    EXPECT_EQ(run({"run", "job", "--", "ls", "/proc/self/fd"}, url()).out, "0\n1\n2\n3\n");
}

TEST_P(TheCommand, InheritsTheDescriptorsThatWeWereGiven) {
    const int given = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    program reader{program::exactly{
                       {program_path(), "run", "job", "--", "readlink", "/proc/self/fd/7"}, given},
                   url()};
    ::close(given);
    EXPECT_EQ(reader.end().out, "/dev/zero\n");
}

TEST_P(TheCommand, FindsItsStandardDescriptorsEvenIfWeHadNone) {
    const std::string closed =
        "exec '" + program_path() + "' run job -- readlink /proc/self/fd/0 <&-";
    EXPECT_EQ(program(program::exactly{{"sh", "-c", closed}}, url()).end().out, "/dev/null\n");
}

TEST_P(TheCommand, HasNoSignalBlockedAndNoneIgnored) {
    const ended found =
        run({"run", "job", "--", "grep", "-E", "SigBlk|SigIgn", "/proc/self/status"}, url());
    EXPECT_EQ(found.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_P(TheCommand, LeadsAProcessGroupOfItsOwn) {
    const ended found = run(shell("echo $$; cut -d' ' -f5 /proc/$$/stat"), url());
    std::istringstream words{found.out};
    pid_t id = 0;
    pid_t group = 0;
    words >> id >> group;
    EXPECT_GT(id, 0);
    EXPECT_EQ(id, group);
}

TEST_P(TheCommand, KnowsItsLockAndItsServer) {
    const std::vector<std::string> question{"run", "--url",    url(),           "my job",
                                            "--",  "printenv", "HOLDFAST_LOCK", "HOLDFAST_URL"};
    EXPECT_EQ(run(question, "redis://elsewhere").out, "my job\n" + url() + "\n");
}

TEST_P(TheCommand, MayStartADaemonWhichOutlivesTheLock) {
    program starter{shell("setsid sh -c 'echo $$; exec sleep 1000' & read nothing; true"), url()};
    observed_process daemon{std::stoi(starter.line())};
    starter.close_stdin(); // and the command ends by itself
    EXPECT_EQ(starter.end().status, 0);
    EXPECT_FALSE(is_locked());
    EXPECT_FALSE(daemon.ended_within(duration::zero()));
    daemon.kill();
}

// The limit that docs/guarantees.md tells of: the kernel kills the command alone.
TEST_P(TheCommand, DiesWithUsButNotWhatItHasStarted) {
    program holder{shell("echo $$; sleep 1000 & echo $!; wait"), url()};
    observed_process command{std::stoi(holder.line())};
    observed_process started{std::stoi(holder.line())};
    holder.signal(SIGKILL);
    EXPECT_TRUE(command.ended_within(far_too_long));
    EXPECT_FALSE(started.ended_within(duration::zero()));
    started.kill();
}

} // namespace
} // namespace holdfast::cli_test
