// SPDX-License-Identifier: Apache-2.0
// Exit statuses of `holdfast run`.
#include "cli/server_test.hpp"

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunStatus : public on_server {};
HOLDFAST_ON_EACH_SERVER(RunStatus);

TEST_P(RunStatus, IsTheCommandsAndNothingIsSaid) {
    const ended good = run(shell("echo out; echo err >&2"), url());
    EXPECT_EQ(good.status, 0);
    EXPECT_EQ(good.out, "out\n");
    EXPECT_EQ(good.err, "err\n");
    EXPECT_EQ(run(shell("exit 42"), url()).status, 42);
    EXPECT_FALSE(is_locked());
}

TEST_P(RunStatus, TheLockIsHeldWhileTheCommandRunsAndWithTheLeaseTimeAskedFor) {
    program holder{until_closed({"--lease", "25s"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_locked());
    const auto left = server().command({"PTTL", name}).integer;
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 25'000);

    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(RunStatus, TellsTheCommandsSignalAsAShellDoes) {
    const ended killed = run(shell("kill -KILL $$"), url());
    EXPECT_EQ(killed.status, 128 + SIGKILL);
    EXPECT_FALSE(killed.by_signal);
    EXPECT_FALSE(is_locked());
}

TEST_P(RunStatus, BusyIsOneOrWhatWasAskedFor) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");

    const ended busy = run(shell("echo ran", {"-n"}), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_EQ(busy.out, "");
    EXPECT_EQ(busy.err, "holdfast: lock 'job' is busy on " + url() + "\n");
    EXPECT_EQ(run(shell("echo ran", {"-w", "0.05"}), url()).status, 1);
    EXPECT_EQ(run(shell("echo ran", {"-w", "0"}), url()).status, 1);
    EXPECT_EQ(run(shell("echo ran", {"-n", "-E", "17"}), url()).status, 17);
    EXPECT_EQ(run(shell("echo ran", {"-w", "50ms", "--conflict-exit-code", "17"}), url()).status,
              17);

    const ended fine = run(shell("echo ran", {"-n", "-E", "0"}), url());
    EXPECT_EQ(fine.status, 0);
    EXPECT_THAT(fine.out + fine.err, IsEmpty()) << "for cron, which mails what is said";
}

TEST_P(RunStatus, IsTheSameWhenNobodyReadsTheMessage) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo ran", {"-w", "0.2"}), url()};
    waiter.close_stderr();
    const ended unheard = waiter.end();
    EXPECT_EQ(unheard.status, 1);
    EXPECT_FALSE(unheard.by_signal) << "SIGPIPE would cost the lock of who holds it";
}

TEST_P(RunStatus, AWaitThatIsLongEnoughGetsTheLock) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine", {"-w", "1m"}), url()};
    await_waiter();

    holder.close_stdin();
    EXPECT_EQ(waiter.end().out, "mine\n");
}

TEST_P(RunStatus, AWaitIsToldOfOnlyToWhoAsks) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program curious{shell("echo mine; read nothing", {"-v"}), url()};
    EXPECT_TRUE(eventually([&] { return curious.said("waiting for lock 'job', held"); }));
    program silent{shell("echo mine"), url()};
    await_waiter();

    holder.close_stdin();
    EXPECT_EQ(curious.line(), "mine");
    EXPECT_TRUE(curious.said("has lock 'job' after "));
    curious.close_stdin();
    curious.end();
    EXPECT_EQ(silent.end().err, "");
}

TEST_P(RunStatus, AWaitIsToldWhoHolds) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    await_known_client();
    program waiter{shell("echo mine", {"-v"}), url()};
    const std::string whom = "held by holdfast, process " + std::to_string(holder.id()) + " on ";
    EXPECT_TRUE(eventually([&] { return waiter.said("waiting for lock 'job', " + whom); }));
    EXPECT_TRUE(waiter.said(", 'sh', there since 20"));
    holder.close_stdin();
    EXPECT_EQ(waiter.end().out, "mine\n");
}

TEST_P(RunStatus, AWaitIsToldOfAJvm) {
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    program waiter{shell("echo mine", {"-v"}), url()};
    EXPECT_TRUE(eventually([&] {
        return waiter.said(
            "held by Redisson client 8743c9c0-0795-4907-87fd-6c719a6b4586, thread 49\n");
    }));
}

TEST_P(RunStatus, AWaitIsToldOfTheLeaseWhereThatIsAllThatIsKnown) {
    const std::string ours = "8743c9c0-0795-8fd5-87fd-6c719a6b4586:49";
    server().command({"HSET", name, ours, "1"});
    program endless{shell("echo mine", {"-v"}), url()};
    EXPECT_TRUE(eventually([&] { return endless.said("lock 'job', held without end\n"); }));
    server().command({"PEXPIRE", name, "1000000"});
    program waiter{shell("echo mine", {"-v"}), url()};
    EXPECT_TRUE(eventually([&] { return waiter.said("held on a lease with 16m"); }));
}

TEST_P(RunStatus, TellsWhatCannotBeExecutedFromWhatIsNotFound) {
    const ended missing = run({"run", "job", "--", "no-such-command"}, url());
    EXPECT_EQ(missing.status, 127);
    EXPECT_THAT(missing.err, HasSubstr("cannot run 'no-such-command': No such file or directory"));

    const ended forbidden = run({"run", "job", "--", "/etc/passwd"}, url());
    EXPECT_EQ(forbidden.status, 126);
    EXPECT_THAT(forbidden.err, HasSubstr("cannot run '/etc/passwd': Permission denied"));

    EXPECT_EQ(run({"run", "job", "--", ""}, url()).status, 127);
    EXPECT_FALSE(is_locked());
}

TEST_P(RunStatus, TheLockMayHaveTheNameOfAVerbAndTheCommandDashesOfItsOwn) {
    const ended echoed = run({"run", "demo", "--", "echo", "-n", "--", "--help"}, url());
    EXPECT_EQ(echoed.status, 0);
    EXPECT_EQ(echoed.out, "-- --help");
}

TEST_P(RunStatus, AKeyThatIsNoLockIs65AndTheServersWordsAreTold) {
    server().command({"SET", name, "somebody's data"});
    const ended refused = run(shell("echo ran", {"-n"}), url());
    EXPECT_EQ(refused.status, 65);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("WRONGTYPE"));
    EXPECT_THAT(refused.err, HasSubstr("Choose another name"));
    EXPECT_EQ(server().command({"GET", name}).text, "somebody's data");
}

TEST_P(RunStatus, AHashThatIsNoLockIs65AndNotWaitedForForEver) {
    server().command({"HSET", name, "colour", "red"});
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"-n"}, std::vector<std::string>{}}) {
        const ended refused = run(shell("echo ran", options), url());
        EXPECT_EQ(refused.status, 65);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err,
                    HasSubstr("the key is a hash (no lock), and a mutex was asked for"));
    }
    EXPECT_EQ(server().command({"HGET", name, "colour"}).text, "red");
}

TEST_P(RunStatus, TheDashesAreNeededOnlyBeforeADash) {
    EXPECT_EQ(run({"run", name, "echo", "-n", "--", "--help"}, url()).out, "-- --help");
    EXPECT_EQ(run({"run", "-w", "5", name, "-v", "echo", "fine"}, url()).out, "fine\n");
    EXPECT_EQ(run({"run", "-vw5", name, "echo", "fine"}, url()).out, "fine\n");
    EXPECT_EQ(run({"run", "--wait=5", name, "echo", "-w"}, url()).out, "-w\n");
    EXPECT_EQ(run({"run", name, "sh", "-c", "exit 7"}, url()).status, 7);
}

TEST_P(RunStatus, TheServerIsToldIfMoreIsAskedFor) {
    const ended told = run(shell("true", {"-v"}), url());
    EXPECT_THAT(told.err, HasSubstr("holdfast: asking " + url() + " for lock 'job'\n"));
    EXPECT_THAT(told.err, HasSubstr("has lock 'job' after "));
}

TEST_P(RunStatus, AServersFullStopEndsItsSentence) {
    server().command({"CONFIG", "SET", "requirepass", "right"});
    const ended stranger = run(shell("echo ran", {"-n"}), url());
    EXPECT_THAT(stranger.err, HasSubstr("required. "));
    EXPECT_THAT(stranger.err, testing::Not(HasSubstr(".: ")));
}

TEST_P(RunStatus, APasswordComesFromTheEnvironment) {
    server().command({"CONFIG", "SET", "requirepass", "right"});
    const ended stranger = run(shell("echo ran", {"-n"}), url());
    EXPECT_EQ(stranger.status, 69);
    EXPECT_THAT(stranger.err, HasSubstr("NOAUTH"));

    std::vector<std::string> words{"env", "HOLDFAST_PASSWORD=right", program_path()};
    const auto given = shell("echo ran", {"-n"});
    words.insert(words.end(), given.begin(), given.end());
    EXPECT_EQ((program{program::exactly{words}, url()}.end().out), "ran\n");
}

TEST_P(RunStatus, WaitEndsInTimeAlthoughTheServerStandsStill) {
    server().pause();
    const std::string slow = url() + "?connect_timeout=1h&command_timeout=1h";
    const ended silent = run(shell("echo ran", {"-w", "0.1"}), slow);
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("cannot reach "));
    EXPECT_THAT(silent.err, HasSubstr("no answer within 2.5s"));
    server().resume();
}

TEST_P(RunStatus, WaitForSeveralLocksEndsInTimeAlthoughTheServerStandsStill) {
    server().pause();
    const ended silent = run(shell("echo ran", {"-w", "1.6", "--with", "another"}),
                             url() + "?connect_timeout=1500ms&command_timeout=1h");
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("cannot reach "));
    EXPECT_THAT(silent.err, HasSubstr("member 1 (job): ")) << "it waited longer than the call";
    server().resume();
}

TEST_P(RunStatus, WaitForASlotOrAStartEndsInTimeAlthoughTheServerStandsStill) {
    server().pause();
    const std::string slow = url() + "?connect_timeout=100ms&command_timeout=100ms";
    for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
             {"-w", "0.3", "--slots", "2"}, {"-w", "0.3", "--rate", "2/1m"}}) {
        const ended silent = run(shell("echo ran", kind), slow);
        EXPECT_EQ(silent.status, 69);
        EXPECT_THAT(silent.err, HasSubstr("no answer within 300ms")) << "and not 2.5s";
    }
    server().resume();
    EXPECT_EQ(run(shell("echo ran", {"-w", "10", "--slots", "2"}), url()).out, "ran\n");
}

TEST_P(RunStatus, WaitEndsInTimeIfTheServerStopsToAnswerMeanwhile) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo ran", {"-w", "6"}), url() + "?command_timeout=1h"};
    await_waiter();
    server().pause();
    // 1 if the last reply was "busy", 69 if a request is still without a reply
    EXPECT_THAT(waiter.end().status, testing::AnyOf(1, 69));
    server().resume();
}

TEST_P(RunStatus, AServerThatIsAwayWhenTheCommandHasEndedDoesNotSpoilItsStatus) {
    program holder{until_closed(), url() + "?release_timeout=100ms"};
    ASSERT_EQ(holder.line(), "held");
    server().stop();
    holder.close_stdin();
    const ended alone = holder.end();
    EXPECT_EQ(alone.status, 0);
    EXPECT_THAT(alone.err, HasSubstr("could not be released"));
}

} // namespace
} // namespace holdfast::cli_test
