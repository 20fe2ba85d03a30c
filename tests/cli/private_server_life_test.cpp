// SPDX-License-Identifier: Apache-2.0
// The private server where its files are removed, where it stands still, where the program that
// starts it has limits, and what commands on it find in their environment.
#include "cli/private_server.hpp"

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

namespace holdfast::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class PrivateServerLife : public with_private_server {
protected:
    /// The words of a shell script in which `$h` is the program.
    program::exactly script(const std::string& text,
                            const std::vector<std::string>& environment = {}) const {
        program::exactly words = holdfast({}, environment);
        words.command.back() = "h=" + program_path(); // the program's own place, behind `env`
        words.command.insert(words.command.end(), {"sh", "-c", text});
        return words;
    }

    fs::path file(const char* name) const { return folder / "holdfast" / name; }
};
HOLDFAST_ON_EACH_SERVER(PrivateServerLife);

TEST_P(PrivateServerLife, NoSecondServerStartsIfTheLockFileIsRemovedWhileTheServerStandsStill) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    const pid_t first = process();
    fs::remove(file("lock"));
    ::kill(first, SIGSTOP);
    const ended refused = run({"run", "-n", "job", "--", "echo", "ran"});
    ::kill(first, SIGCONT);
    EXPECT_EQ(refused.status, 69);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("does not answer; 'holdfast server stop --force' ends it"));
    EXPECT_EQ(process(), first);
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "a second holder";
}

TEST_P(PrivateServerLife, NoSecondServerStartsBeforeTheFirstHasEndedIfItsFilesAreRemoved) {
    for (const bool whole_folder : {false, true}) {
        SCOPED_TRACE(whole_folder);
        program holder{holding("job")};
        ASSERT_EQ(holder.line(), "held");
        observed_process server{process()};
        const pid_t keeper = supervisor();
        ::kill(keeper, SIGSTOP); // or it would end the server within a moment
        if (whole_folder)
            fs::remove_all(folder / "holdfast");
        else
            for (const char* const each : {"lock", "socket", "log"})
                fs::remove(file(each));
        program next{holdfast({"run", "-v", "job", "--", "echo", "ran"})};
        EXPECT_FALSE(server.ended_within(std::chrono::seconds{1}));
        ::kill(keeper, SIGCONT);
        EXPECT_EQ(next.line(), "ran");
        EXPECT_TRUE(server.ended_within(duration::zero())) << "two servers at a time";
        EXPECT_EQ(next.end().status, 0);
        holder.signal(SIGKILL);
        holder.end();
        run({"server", "stop", "--force"});
    }
}

TEST_P(PrivateServerLife, AServerWithoutItsSocketCanBeStopped) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    const pid_t keeper = supervisor();
    ::kill(keeper, SIGSTOP);
    fs::remove(file("socket"));
    fs::remove(file("lock"));
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServerLife, TheLimitsOfItsStarterAreNotItsOwn) {
    program holder{script("ulimit -S -t 1000; ulimit -S -n 64; ulimit -S -f 100000; "
                          "exec \"$h\" run job sh -c 'echo held; read nothing'")};
    ASSERT_EQ(holder.line(), "held");
    std::ifstream limits{"/proc/" + std::to_string(process()) + "/limits"};
    std::map<std::string, std::string> soft;
    for (std::string line; std::getline(limits, line);) {
        const std::size_t value = line.find("  ");
        std::istringstream words{line.substr(value)};
        words >> soft[line.substr(0, value)];
    }
    EXPECT_EQ(soft.count("Max cpu time"), 1U);
    EXPECT_NE(soft["Max cpu time"], "1000");
    EXPECT_NE(soft["Max open files"], "64");
    EXPECT_NE(soft["Max file size"], "51200000");
}

TEST_P(PrivateServerLife, SlotsAndRatesThatLimitNobodyDoNotKeepIt) {
    ASSERT_EQ(run({"run", "--slots", "2", "seats", "true"}).status, 0);
    ASSERT_EQ(run({"run", "--rate", "9/100ms", "my {mails}", "true"}).status, 0);
    EXPECT_TRUE(eventually([&] { return run({"server", "stop"}).status == 0; }));
    EXPECT_EQ(run({"server", "status"}).status, 1);
}

TEST_P(PrivateServerLife, ItStaysWhileASlotIsHeldARateCountsOrALatchIsSet) {
    ASSERT_EQ(run({"run", "--rate", "1/1h", "mails", "true"}).status, 0);
    EXPECT_EQ(run({"server", "stop"}).status, 1);
    ASSERT_EQ(run({"server", "stop", "--force"}).status, 0);
    ASSERT_EQ(run({"latch", "set", "gate", "1"}).status, 0);
    EXPECT_EQ(run({"server", "stop"}).status, 1);
    ASSERT_EQ(run({"server", "stop", "--force"}).status, 0);
    program holder{holding("seats", {"--slots", "1"})};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGKILL);
    (void)holder.end();
    EXPECT_EQ(run({"server", "stop"}).status, 1) << "the lease of the slot has not ended";
}

TEST_P(PrivateServerLife, RequireServerForbidsItInsideOfARunOnItToo) {
    for (const char* const elsewhere : {"", "env -u XDG_RUNTIME_DIR "}) {
        const ended refused =
            program{script("\"$h\" run outer -- " + std::string{elsewhere} +
                           "env HOLDFAST_REQUIRE_SERVER=1 \"$h\" run inner echo ran")}
                .end();
        EXPECT_EQ(refused.status, 64);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("HOLDFAST_REQUIRE_SERVER=1 forbids it"));
    }
    EXPECT_EQ(program{script("\"$h\" run outer -- \"$h\" run inner echo ran")}.end().out, "ran\n");
}

TEST_P(PrivateServerLife, AProcessThatOutlivesItsRunFindsAServerAgain) {
    program starter{script("\"$h\" run outer -- sh -c 'setsid sh -c \"echo \\$\\$; read x; "
                           "env -u XDG_RUNTIME_DIR $h run inner echo ran\" <&5 5<&- &' 5<&0")};
    observed_process left{std::stoi(starter.line())};
    EXPECT_TRUE(eventually([this] { return !runs(); })) << "the run has not ended";
    starter.close_stdin();
    EXPECT_EQ(starter.line(), "ran");
    EXPECT_TRUE(left.ended_within(far_too_long));
    EXPECT_EQ(starter.end().status, 0);
}

TEST_P(PrivateServerLife, NoNameAndPasswordForAnotherServerReachACommandOnIt) {
    const std::vector<std::string> given{"HOLDFAST_USERNAME=me", "HOLDFAST_PASSWORD=secret"};
    const std::string show = "env | grep -E \"^HOLDFAST_(USERNAME|PASSWORD)\"; true";
    EXPECT_EQ(run({"run", "job", "sh", "-c", show}, given).out, "");
    EXPECT_EQ(run({"run", "--rate", "10/1m", "mails", "sh", "-c", show}, given).out, "");
    const ended inner = program{script("\"$h\" run outer -- env HOLDFAST_PASSWORD=secret "
                                       "\"$h\" run inner sh -c '" +
                                       show + "; echo fine'")}
                            .end();
    EXPECT_EQ(inner.out, "fine\n") << inner.err;
}

TEST_P(PrivateServerLife, OneThatACommandOfALostRunHasStartedLives) {
    support::redis_server other{GetParam()};
    program outer{script("\"$h\" run --url " + other.url() +
                             " --on-loss TERM:1s outer -- env -u HOLDFAST_URL \"$h\" run inner "
                             "sh -c 'echo held; read nothing'",
                         {"HOLDFAST_SERVER_LINGER=1h"})};
    ASSERT_EQ(outer.line(), "held");
    const pid_t server = process();
    other.command({"DEL", "outer"});
    EXPECT_EQ(outer.end().status, 75);
    ASSERT_TRUE(runs());
    EXPECT_EQ(process(), server);
}

TEST_P(PrivateServerLife, WorksWhereTheSystemHasNoPidfd) {
    program::exactly words = holding("job");
    words.without_pidfd = true;
    program holder{words};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_TRUE(server.ended_within(far_too_long));

    program told{words};
    ASSERT_EQ(told.line(), "held");
    told.signal(SIGTERM);
    EXPECT_EQ(told.end().status, 128 + SIGTERM);
}

} // namespace
} // namespace holdfast::cli_test
