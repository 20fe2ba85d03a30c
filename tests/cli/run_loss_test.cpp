// SPDX-License-Identifier: Apache-2.0
// The lock is lost while the command runs: it must be gone before the lease ends.
#include "cli/server_test.hpp"

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Loss : public on_server {
protected:
    static constexpr duration lease = 3s;

    /// Says its process id when it runs.
    std::vector<std::string> command(const std::string& script) {
        return shell("echo $$; " + script, {"--lease", "3s"});
    }

    const std::string deaf = "trap '' TERM; read nothing";
};
HOLDFAST_ON_EACH_SERVER(Loss);

TEST_P(Loss, ACommandThatEndsOnTermMayCleanUp) {
    program holder{command("trap 'echo cleaning; exit 0' TERM; read nothing"), url()};
    holder.line();
    server().command({"DEL", name});
    EXPECT_EQ(holder.line(), "cleaning");
    const ended stopped = holder.end();
    EXPECT_EQ(stopped.status, 75);
    EXPECT_THAT(stopped.err, HasSubstr("holdfast: lock 'job' was lost: stopping the command\n"));
}

TEST_P(Loss, ACommandThatIgnoresTermIsKilledBeforeTheLeaseWouldHaveEnded) {
    program holder{command(deaf), url()};
    observed_process process{std::stoi(holder.line())};
    server().command({"DEL", name});
    EXPECT_TRUE(process.ended_within(lease));
    const ended killed = holder.end();
    EXPECT_EQ(killed.status, 75);
    EXPECT_THAT(killed.err, HasSubstr("the command did not stop: killing it"));
}

TEST_P(Loss, TheCommandGetsTheSignalThatWasAskedFor) {
    for (const char* const wish : {"INT", "SIGINT:1s", "2"}) {
        program holder{shell("trap 'echo cleaning; exit 0' INT; echo held; read nothing",
                             {"--lease", "3s", "--on-loss", wish}),
                       url()};
        ASSERT_EQ(holder.line(), "held");
        server().command({"DEL", name});
        EXPECT_EQ(holder.line(), "cleaning") << wish;
        EXPECT_EQ(holder.end().status, 75);
    }
}

TEST_P(Loss, TheGraceUntilKillIsWhatWasAskedFor) {
    const std::string deaf_but_telling = "trap 'echo term' TERM; while :; do read nothing; done";
    program patient{
        shell("echo $$; " + deaf_but_telling, {"--lease", "3s", "--on-loss", "TERM:1200ms"}),
        url()};
    observed_process process{std::stoi(patient.line())};
    server().command({"DEL", name});
    ASSERT_EQ(patient.line(), "term");
    const time_point told = boot_clock::now();
    EXPECT_TRUE(process.ended_within(lease));
    EXPECT_GE(boot_clock::now() - told, 1s) << "a tenth of the lease is the default";
    EXPECT_THAT(patient.end().err, HasSubstr("the command did not stop: killing it"));
}

TEST_P(Loss, TheGraceEndsBeforeTheLeaseDoes) {
    for (const bool refused : {true, false}) {
        program holder{shell("echo $$; " + deaf, {"--lease", "3s", "--on-loss", "TERM:1h"}), url()};
        observed_process process{std::stoi(holder.line())};
        if (refused)
            server().command({"DEL", name});
        else
            server().stop();
        EXPECT_TRUE(process.ended_within(lease)) << refused;
        EXPECT_EQ(holder.end().status, 75);
    }
}

TEST_P(Loss, NoGraceIsGivenWithKill) {
    program hasty{{"run", "--lease", "3s", "--on-loss", "KILL", "other", "sh", "-c",
                   "trap 'echo term' TERM; echo held; read nothing"},
                  url()};
    ASSERT_EQ(hasty.line(), "held");
    server().command({"DEL", "other"});
    const ended killed = hasty.end();
    EXPECT_EQ(killed.status, 75);
    EXPECT_EQ(killed.out, "");
    EXPECT_EQ(killed.err, "holdfast: lock 'other' was lost: killing the command\n");
}

TEST_P(Loss, TheEndOfMaxHoldIsToldAsSuch) {
    program holder{command("read nothing"), url() + "?max_hold=500ms"};
    holder.line();
    const ended stopped = holder.end();
    EXPECT_EQ(stopped.status, 75);
    EXPECT_THAT(stopped.err,
                HasSubstr("lock 'job' was held for as long as max_hold allows and ends in "));
}

TEST_P(Loss, AnotherHolderIsLeftAlone) {
    program holder{command("read nothing"), url()};
    holder.line();
    server().command({"DEL", name});
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:7", "1"});
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_TRUE(is_locked());
}

TEST_P(Loss, AServerThatDiesIsMetBeforeTheLeaseEnds) {
    program holder{command(deaf), url()};
    observed_process process{std::stoi(holder.line())};
    server().stop();
    // Its last renewal was granted before this moment.
    EXPECT_TRUE(process.ended_within(lease));
    const ended killed = holder.end();
    EXPECT_EQ(killed.status, 75);
    EXPECT_THAT(killed.err, HasSubstr("cannot be renewed and ends in "));
}

TEST_P(Loss, AServerThatHangsIsMetBeforeTheLeaseEnds) {
    program holder{command(deaf), url()};
    observed_process process{std::stoi(holder.line())};
    server().pause();
    EXPECT_TRUE(process.ended_within(lease));
    server().resume();
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(Loss, AStoppedCommandIsStoppedForGood) {
    program holder{command("kill -STOP $$"), url()};
    observed_process process{std::stoi(holder.line())};
    server().command({"DEL", name});
    EXPECT_TRUE(process.ended_within(lease));
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(Loss, WhatTheCommandLeftBehindInItsGroupIsKilledToo) {
    program holder{
        shell("exec 5<&0; (trap '' TERM; read nothing <&5) & echo $!; wait", {"--lease", "3s"}),
        url()};
    observed_process left_behind{std::stoi(holder.line())};
    server().command({"DEL", name});
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_TRUE(left_behind.ended_within(far_too_long));
}

TEST_P(Loss, ADaemonThatTheCommandHasStartedIsKilledToo) {
    program holder{command("setsid sh -c 'echo $$; exec sleep 1000' & read nothing"), url()};
    holder.line(); // the command's
    observed_process daemon{std::stoi(holder.line())};
    server().command({"DEL", name});
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_TRUE(daemon.ended_within(far_too_long));
}

TEST_P(Loss, IsToldEvenIfTheCommandHasEndedBeforeItWasNoticed) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    server().command({"DEL", name});
    holder.close_stdin();
    const ended late = holder.end();
    EXPECT_EQ(late.status, 75);
    EXPECT_EQ(late.out, "done\n");
    EXPECT_EQ(late.err, "holdfast: lock 'job' was lost before the command ended (its status: 0)\n");
}

} // namespace
} // namespace holdfast::cli_test
