// SPDX-License-Identifier: Apache-2.0
// The command of `holdfast run`: how it starts, how it is signalled, and how its job ends.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

// The environment of a command at its start. The command must not outlive the program.

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

// All ways in which a job is ended from outside: the lock stays taken until its processes are gone.

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class JobEnds : public on_server {
protected:
    /// A process that cleans up when it gets TERM, for as long as stdin is open.
    const std::string cleaner =
        "trap 'echo cleaning; read x <&5; echo clean; exit 0' TERM; echo begun; "
        "while :; do sleep 0.05; done";

    /// Starts that process in the way that `wrapped` says, where it has `$cleaner`.
    std::vector<std::string> job(const std::string& wrapped,
                                 std::vector<std::string> options = {}) {
        return shell("exec 5<&0; export cleaner=\"" + cleaner + "\"; " + wrapped,
                     std::move(options));
    }

    /// Ways to start a process that does not end with the command.
    const std::vector<std::string> wrappers{
        "sh -c \"$cleaner\"; true",
        "sh -c \"$cleaner\" & wait",
        "timeout 60 sh -c \"$cleaner\"; true",
        "setsid sh -c \"$cleaner\" & wait",
        "setsid sh -c 'sh -c \"$cleaner\"; true' & wait",
        "(setsid sh -c \"$cleaner\" &); sleep 1000",
    };
};
HOLDFAST_ON_EACH_SERVER(JobEnds);

TEST_P(JobEnds, TermKeepsTheLockUntilEachProcessHasCleanedUp) {
    for (const std::string& wrapped : wrappers) {
        SCOPED_TRACE(wrapped);
        program holder{job(wrapped), url()};
        ASSERT_EQ(holder.line(), "begun");
        holder.signal(SIGTERM);
        ASSERT_EQ(holder.line(), "cleaning");
        EXPECT_TRUE(is_locked());
        EXPECT_EQ(run({"run", "-n", "job", "true"}, url()).status, 1) << "entered too early";
        holder.close_stdin();
        const ended over = holder.end();
        EXPECT_EQ(over.status, 128 + SIGTERM);
        EXPECT_EQ(over.out, "clean\n");
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, OnLossEachProcessHasTheGrace) {
    for (const std::string& wrapped : wrappers) {
        SCOPED_TRACE(wrapped);
        program holder{job(wrapped, {"--lease", "6s", "--on-loss", "TERM:1h"}), url()};
        ASSERT_EQ(holder.line(), "begun");
        ASSERT_EQ(run({"unlock", "--force", "--yes", "job"}, url()).status, 0);
        ASSERT_EQ(holder.line(), "cleaning");
        holder.close_stdin();
        const ended over = holder.end();
        EXPECT_EQ(over.status, 75);
        EXPECT_THAT(over.out, HasSubstr("clean\n"));
    }
}

TEST_P(JobEnds, OnLossADescendantOfAWaitingCommandIsToldToo) {
    program holder{job("trap 'wait; exit' TERM; timeout 60 sh -c \"$cleaner\" & wait",
                       {"--on-loss", "TERM:1h"}),
                   url()};
    ASSERT_EQ(holder.line(), "begun");
    server().command({"DEL", name});
    ASSERT_EQ(holder.line(), "cleaning");
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(JobEnds, ProcessesThatDoNotEndAreKilledAfterTheGrace) {
    program holder{shell("setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & wait",
                         {"--on-loss", "TERM:5s"}),
                   url()};
    observed_process deaf{std::stoi(holder.line())};
    holder.signal(SIGTERM);
    const ended over = holder.end();
    EXPECT_EQ(over.status, 128 + SIGTERM);
    EXPECT_THAT(over.err, HasSubstr("what the command has started did not stop: killing it"));
    EXPECT_TRUE(deaf.ended_within(far_too_long));
    EXPECT_FALSE(is_locked());
}

TEST_P(JobEnds, EachSignalThatWouldEndTheProgramIsPassedOnAndFreesTheLock) {
    std::vector<int> all{SIGALRM, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,      SIGXCPU,
                         SIGXFSZ, SIGUSR1,   SIGUSR2, SIGABRT, SIGSEGV,     SIGBUS,
                         SIGFPE,  SIGILL,    SIGSYS,  SIGTRAP, SIGSTKFLT,   SIGPIPE,
                         SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGRTMIN + 3};
    for (int internal = SIGSYS + 1; internal < SIGRTMIN; ++internal) // the C library uses them
        all.push_back(internal);
    for (int each = SIGRTMIN; each <= SIGRTMAX; each += 5)
        all.push_back(each);
    for (const int number : all) {
        SCOPED_TRACE(number);
        program holder{shell("ulimit -c 0; sleep 1000 & echo $!; wait"), url()};
        observed_process started{std::stoi(holder.line())};
        holder.signal(number);
        const ended over = holder.end();
        EXPECT_EQ(over.status, 128 + number);
        EXPECT_FALSE(over.by_signal);
        EXPECT_TRUE(started.ended_within(far_too_long));
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, EachOfThemEndsAWait) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const int number : {SIGALRM, SIGIO, SIGPWR, SIGRTMIN + 3, SIGRTMAX, SIGWINCH, SIGSEGV}) {
        SCOPED_TRACE(number);
        program waiter{shell("echo ran"), url()};
        await_waiter();
        waiter.signal(number);
        const ended cancelled = waiter.end();
        EXPECT_EQ(cancelled.status, 128 + number);
        EXPECT_EQ(cancelled.out, "");
        EXPECT_TRUE(eventually([this] {
            return server().command({"CLIENT", "LIST", "TYPE", "pubsub"}).text.empty();
        })) << "the waiter still listens";
    }
}

TEST_P(JobEnds, TheStopSignalsOfContainersAreTakenAsSuch) {
    for (const int number : {SIGWINCH, SIGRTMIN + 3}) {
        SCOPED_TRACE(number);
        const std::string asked = "trap 'exit 3' " + std::to_string(number) + "; ";
        program holder{job(asked + "sh -c \"$cleaner\" & wait"), url()};
        ASSERT_EQ(holder.line(), "begun");
        holder.signal(number);
        if (number == SIGWINCH) { // what does not heed it gets TERM
            ASSERT_EQ(holder.line(), "cleaning");
            EXPECT_TRUE(is_locked());
            holder.close_stdin();
        }
        EXPECT_EQ(holder.end().status, 3);
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, AnInnerRunIsToldOnceAndItsJobEndsInOrderToo) {
    const std::string inner = "'" + program_path() + "' run inner sh -c \"$cleaner\"";
    program holder{job(inner + "; true"), url()};
    ASSERT_EQ(holder.line(), "begun");
    holder.signal(SIGTERM);
    ASSERT_EQ(holder.line(), "cleaning");
    EXPECT_TRUE(is_locked());
    holder.close_stdin();
    EXPECT_EQ(holder.end().out, "clean\n") << "told twice?";
    EXPECT_FALSE(is_locked());
}

TEST_P(JobEnds, AChildFromBeforeTheExecIsNotOfTheJob) {
    const std::string script = "sleep 1000 & echo $!; exec '" + program_path() +
                               "' run --on-loss TERM:1s job sh -c 'echo held; read nothing'";
    program holder{program::exactly{{"sh", "-c", script}}, url()};
    observed_process older{std::stoi(holder.line())};
    ASSERT_EQ(holder.line(), "held");
    server().command({"DEL", name});
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_FALSE(older.ended_within(duration::zero()));
    older.kill();
}

TEST_P(JobEnds, TheCommandFindsTheSignalMaskThatTheProgramHad) {
    const std::string blocking = "import os, signal, sys; "
                                 "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); "
                                 "os.execv(sys.argv[1], sys.argv[1:])";
    const ended told = program{program::exactly{{"python3", "-c", blocking, program_path(), "run",
                                                 "job", "grep", "SigBlk", "/proc/self/status"}},
                               url()}
                           .end();
    EXPECT_EQ(told.out, "SigBlk:\t0000000000000200\n") << told.err;
}

class JobEndsOnATerminal : public JobEnds {
protected:
    JobEndsOnATerminal() {
        std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~JobEndsOnATerminal() override { std::filesystem::remove_all(folder_); }

    /// A shell in which the command line runs, where the process has begun. It cleans up until
    /// `may_end`: it is in the background, and may not read there.
    std::unique_ptr<terminal_session> start(const std::string& wrapped) {
        const std::string script =
            "export cleaner='trap \"echo cleaning; until [ -e " + gate() +
            " ]; do sleep 0.05; done; echo clean; exit 0\" TERM; echo begun; "
            "while :; do sleep 0.05; done'; " +
            wrapped;
        auto terminal = std::make_unique<terminal_session>(
            std::vector<std::string>{"bash", "--norc", "--noprofile", "--noediting", "-i"},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "PS1=ready> ", "TERM=dumb",
                                     "h=" + program_path(), "script=" + script, "HISTFILE="});
        terminal->expect("ready> ");
        terminal->type("$h run job -- sh -c \"$script\"; echo status $?.\n");
        terminal->expect("begun\r\n");
        return terminal;
    }

    /// The process that the shell waits for: the grandparent of the command.
    static pid_t front_of(const terminal_session& terminal) {
        return parent_of(parent_of(terminal.foreground()));
    }

    void may_end() { std::ofstream{gate()} << "yes"; }
    void may_not_end() { std::filesystem::remove(gate()); }

private:
    std::string gate() const { return folder_ / "gate"; }

    std::filesystem::path folder_;
};
HOLDFAST_ON_EACH_SERVER(JobEndsOnATerminal);

TEST_P(JobEndsOnATerminal, CtrlCKeepsTheLockUntilEachProcessHasCleanedUp) {
    // Such a process ignores INT, as those in a shell's background do, and gets TERM.
    const auto terminal = start("sh -c \"$cleaner\" & wait");
    terminal->type(ctrl_c);
    terminal->expect("cleaning\r\n");
    EXPECT_TRUE(is_locked());
    may_end();
    terminal->expect("clean\r\n");
    EXPECT_TRUE(eventually([this] { return !is_locked(); }));
}

TEST_P(JobEndsOnATerminal, ASignalToTheProcessThatTheShellSeesEndsTheJobInOrder) {
    for (const int number : {SIGTERM, SIGPWR, SIGALRM, SIGRTMIN + 3}) {
        SCOPED_TRACE(number);
        may_not_end();
        const auto terminal = start("setsid sh -c \"$cleaner\" & wait");
        ::kill(front_of(*terminal), number);
        terminal->expect("cleaning\r\n");
        EXPECT_TRUE(is_locked());
        may_end();
        terminal->expect("clean\r\n");
        terminal->expect("status " + std::to_string(128 + number) + ".");
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEndsOnATerminal, IfTheProcessThatTheShellSeesIsKilledTheJobEndsInOrder) {
    const auto terminal = start("sh -c \"$cleaner\" & wait");
    ::kill(front_of(*terminal), SIGKILL);
    terminal->expect("cleaning\r\n");
    EXPECT_TRUE(is_locked());
    may_end();
    terminal->expect("clean\r\n");
    EXPECT_TRUE(eventually([this] { return !is_locked(); }));
}

// Signals: to the command while it runs, to the wait before that.

class Signals : public on_server {
protected:
    /// Answers signals until stdin is closed; each of them ends a `read`.
    const std::string loop = "; echo ready; while ! read nothing; do :; done";
};
HOLDFAST_ON_EACH_SERVER(Signals);

TEST_P(Signals, ArePassedOnToTheCommand) {
    program holder{shell("trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo hup' HUP; "
                         "trap 'echo quit' QUIT; trap 'echo int' INT; trap 'echo term; exit 7' "
                         "TERM" +
                         loop),
                   url()};
    ASSERT_EQ(holder.line(), "ready");
    const std::vector<std::pair<int, std::string>> passed{{SIGUSR1, "usr1"}, {SIGUSR2, "usr2"},
                                                          {SIGHUP, "hup"},   {SIGQUIT, "quit"},
                                                          {SIGINT, "int"},   {SIGTERM, "term"}};
    for (const auto& [number, answer] : passed) {
        holder.signal(number);
        EXPECT_EQ(holder.line(), answer);
    }
    EXPECT_EQ(holder.end().status, 7);
    EXPECT_FALSE(is_locked());
}

TEST_P(Signals, ThatEndTheCommandAreItsStatus) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGINT);
    const ended interrupted = holder.end();
    EXPECT_EQ(interrupted.status, 128 + SIGINT);
    EXPECT_FALSE(interrupted.by_signal);
    EXPECT_FALSE(is_locked());
}

/// There, a signal without a handler does nothing to the first process.
TEST_P(Signals, ArePassedOnByTheFirstProcessOfAContainerToo) {
    if (program{program::exactly{{"unshare", "--pid", "--fork", "true"}}}.end().status != 0)
        GTEST_SKIP() << "this user may not make a namespace";
    const auto as_first = [&](const std::string& lock, const std::string& script) {
        return program::exactly{
            {"unshare", "--pid", "--fork", program_path(), "run", lock, "sh", "-c", script}};
    };
    const auto first_process_of = [](const program& around) {
        const std::string id = std::to_string(around.id());
        std::ifstream children{"/proc/" + id + "/task/" + id + "/children"};
        pid_t found = 0;
        children >> found;
        return found;
    };
    program holder{as_first(name, "trap 'echo term; exit 7' TERM" + loop), url()};
    ASSERT_EQ(holder.line(), "ready");
    program standing_by{as_first(name, "true"), url()};
    await_waiter();
    ::kill(first_process_of(standing_by), SIGTERM);
    EXPECT_EQ(standing_by.end().status, 128 + SIGTERM);
    ::kill(first_process_of(holder), SIGTERM);
    EXPECT_EQ(holder.line(), "term");
    EXPECT_EQ(holder.end().status, 7);
}

TEST_P(Signals, ReachTheWholeGroupEvenIfItIsStopped) {
    // The inner shell ignores nothing, and its end shows that it got the signal too.
    program holder{shell("sh -c 'echo $$; kill -STOP 0'; exit 3"), url()};
    observed_process inner{std::stoi(holder.line())};
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 128 + SIGTERM);
    EXPECT_TRUE(inner.ended_within(far_too_long));
}

TEST_P(Signals, StopTheCommandButNotUsBecauseTheLockMustBeRenewed) {
    program holder{shell("echo $$; read nothing; echo done"), url()};
    const observed_process ourselves{holder.id()};
    const observed_process command{std::stoi(holder.line())};
    holder.signal(SIGTSTP);
    EXPECT_TRUE(eventually([&] { return command.is_stopped(); }));
    EXPECT_FALSE(ourselves.is_stopped());

    holder.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return !command.is_stopped(); }));
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
}

TEST_P(Signals, StopAWait) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine"), url()};
    const observed_process waiting{waiter.id()};
    await_waiter();
    waiter.signal(SIGTSTP);
    EXPECT_TRUE(eventually([&] { return waiting.is_stopped(); }));

    holder.close_stdin();
    holder.end();
    waiter.signal(SIGCONT);
    EXPECT_EQ(waiter.end().out, "mine\n");
}

TEST_P(Signals, CancelAWaitAndNothingRuns) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        program waiter{shell("echo ran"), url()};
        await_waiter();
        waiter.signal(number);
        const ended cancelled = waiter.end();
        EXPECT_EQ(cancelled.status, 128 + number);
        EXPECT_FALSE(cancelled.by_signal);
        EXPECT_EQ(cancelled.out, "");
        EXPECT_TRUE(eventually([this] {
            return server().command({"CLIENT", "LIST", "TYPE", "pubsub"}).text.empty();
        })) << "the waiter still listens";
    }
    holder.close_stdin();
    holder.end();
    EXPECT_FALSE(is_locked());
}

TEST_P(Signals, ThatWereIgnoredStayIgnoredAsUnderNohup) {
    const std::string nohup = "trap '' HUP; exec '" + program_path() +
                              "' run job -- sh -c 'trap \"echo usr1\" USR1" + loop + "'";
    program holder{program::exactly{{"sh", "-c", nohup}}, url()};
    ASSERT_EQ(holder.line(), "ready");
    holder.signal(SIGHUP); // ends nobody
    holder.signal(SIGUSR1);
    EXPECT_EQ(holder.line(), "usr1");
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 128 + SIGTERM);
}

} // namespace
} // namespace holdfast::cli_test
