// SPDX-License-Identifier: Apache-2.0
// The lock of `holdfast run`: its loss, `--hold-for`, `--fenced`, and a run inside a run.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::cli_test {
namespace {

// The lock is lost while the command runs: it must be gone before the lease ends.

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// End of a script that waits for a signal with a trap. A shell that is about to begin `read` when
/// the signal arrives runs the trap only after the `read`, so the script begins new commands again
/// and again.
const std::string until_a_signal = "while :; do sleep 0.1; done";

class Loss : public on_server {
protected:
    /// Long enough that a renewal and a signal may each come seconds late on a busy machine.
    static constexpr duration lease = 9s;

    /// Says its process id when it runs.
    std::vector<std::string> command(const std::string& script,
                                     std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"--lease", "9s"});
        return shell("echo $$; " + script, std::move(options));
    }

    const std::string deaf = "trap '' TERM; read nothing";
};
HOLDFAST_ON_EACH_SERVER(Loss);

TEST_P(Loss, ACommandThatEndsOnTermMayCleanUp) {
    program holder{
        command("trap 'echo cleaning; exit 0' TERM; " + until_a_signal, {"--on-loss", "TERM:1h"}),
        url()};
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
    // All at once, because the leases are long: without a number, the grace is a tenth of the
    // lease.
    const std::vector<std::string> wishes{"INT", "SIGINT:5s", "2"};
    std::vector<std::unique_ptr<program>> holders;
    for (const std::string& wish : wishes) {
        std::vector<std::string> words{"run", "--lease", "30s", "--on-loss", wish, "of " + wish};
        words.insert(
            words.end(),
            {"sh", "-c", "trap 'echo cleaning; exit 0' INT; echo held; " + until_a_signal});
        holders.push_back(std::make_unique<program>(words, url()));
    }
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        ASSERT_EQ(holders[i]->line(), "held");
        server().command({"DEL", "of " + wishes[i]});
    }
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        EXPECT_EQ(holders[i]->line(), "cleaning") << wishes[i];
        EXPECT_EQ(holders[i]->end().status, 75);
    }
}

TEST_P(Loss, TheGraceUntilKillIsWhatWasAskedFor) {
    const std::string deaf_but_telling = "trap 'echo term' TERM; while :; do read nothing; done";
    program patient{
        shell("echo $$; " + deaf_but_telling, {"--lease", "9s", "--on-loss", "TERM:2s"}), url()};
    observed_process process{std::stoi(patient.line())};
    server().command({"DEL", name});
    ASSERT_EQ(patient.line(), "term");
    const time_point told = boot_clock::now();
    EXPECT_TRUE(process.ended_within(lease));
    EXPECT_GE(boot_clock::now() - told, 1s) << "the default is 900 ms, a tenth of the lease";
    EXPECT_THAT(patient.end().err, HasSubstr("the command did not stop: killing it"));
}

TEST_P(Loss, TheGraceEndsBeforeTheLeaseDoes) {
    for (const bool refused : {true, false}) {
        program holder{command(deaf, {"--on-loss", "TERM:1h"}), url()};
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
    program hasty{{"run", "--lease", "9s", "--on-loss", "KILL", "other", "sh", "-c",
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
        shell("exec 5<&0; (trap '' TERM; read nothing <&5) & echo $!; wait", {"--lease", "9s"}),
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

// `holdfast run --hold-for`: a lock that outlives a short command.

class HoldFor : public on_server {
protected:
    /// Its command has ended by now, and its lock is held.
    std::unique_ptr<program> after_command(const std::string& script,
                                           std::vector<std::string> options) {
        auto holder = std::make_unique<program>(shell(script, std::move(options)), url());
        EXPECT_EQ(holder->line(), "done");
        EXPECT_TRUE(eventually([&] { return holder->said("the command has ended"); }));
        return holder;
    }

    const std::vector<std::string> long_after{"-v", "--hold-for", "1h"};
};
HOLDFAST_ON_EACH_SERVER(HoldFor);

TEST_P(HoldFor, TheLockIsHeldAtLeastThatLongAndTheStatusIsTheCommands) {
    const time_point start = boot_clock::now();
    const ended held = run(shell("exit 7", {"--hold-for", "700ms"}), url());
    EXPECT_GE(boot_clock::now() - start, 700ms);
    EXPECT_EQ(held.status, 7);
    EXPECT_EQ(held.err, "");
    EXPECT_FALSE(is_locked());
}

TEST_P(HoldFor, ItCountsFromTheGrantSoALongCommandIsFollowedByNothing) {
    program holder{until_closed({"--hold-for", "1ms", "-v"}), url()};
    ASSERT_EQ(holder.line(), "held");
    const time_point seen = boot_clock::now(); // a fast machine needs less for all of it
    ASSERT_TRUE(eventually([&] { return boot_clock::now() - seen > 1ms; }));
    holder.close_stdin();
    const ended fine = holder.end();
    EXPECT_EQ(fine.status, 0);
    EXPECT_THAT(fine.err, testing::Not(HasSubstr("--hold-for")));
}

TEST_P(HoldFor, TheLeaseIsRenewedMeanwhile) {
    const auto holder = after_command("echo done", {"-v", "--lease", "6s", "--hold-for", "1h"});
    std::int64_t left = server().command({"PTTL", name}).integer;
    for (int renewals = 0; renewals < 3; ++renewals) // as long as a lease
        EXPECT_TRUE(eventually([&] {
            const std::int64_t before =
                std::exchange(left, server().command({"PTTL", name}).integer);
            return left > before;
        }));
    EXPECT_EQ(run(shell("true", {"-n"}), url()).status, 1);
}

TEST_P(HoldFor, ASignalEndsTheWaitAndNotTheStatus) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        const auto holder = after_command("echo done; exit 3", long_after);
        holder->signal(number);
        EXPECT_EQ(holder->end().status, 3);
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(HoldFor, WhoIsToldToEndDuringTheCommandDoesNotWaitAfterIt) {
    program holder{shell("trap 'exit 5' TERM; echo held; " + until_a_signal, long_after), url()};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 5);
}

TEST_P(HoldFor, ALossAfterTheCommandIsToldAndItsStatusStays) {
    const auto holder = after_command("echo done", {"-v", "--lease", "6s", "--hold-for", "1h"});
    server().command({"DEL", name});
    const ended lost = holder->end();
    EXPECT_EQ(lost.status, 0);
    EXPECT_THAT(lost.err, HasSubstr("lock 'job' was lost "));
    EXPECT_THAT(lost.err, HasSubstr(" before the end of --hold-for"));
}

TEST_P(HoldFor, ALossDuringTheCommandIs75EvenIfNobodyHasNoticedIt) {
    program holder{until_closed(long_after), url()};
    ASSERT_EQ(holder.line(), "held");
    server().command({"DEL", name});
    holder.close_stdin();
    const ended lost = holder.end();
    EXPECT_EQ(lost.status, 75);
    EXPECT_THAT(lost.err, HasSubstr("was lost before the command ended (its status: 0)"));
}

TEST_P(HoldFor, ACommandThatCannotStartHoldsNothing) {
    EXPECT_EQ(run({"run", "--hold-for", "1h", name, "no-such-command"}, url()).status, 127);
}

TEST_P(HoldFor, OnATerminalItIsToldAndCtrlCEndsIt) {
    terminal_session alone{
        {program_path(), "run", "--hold-for", "3570", name, "sh", "-c", "exit 4"},
        {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    alone.expect("the command has ended; lock 'job' is held for 59m");
    alone.type(ctrl_c);
    EXPECT_EQ(alone.end(), 4);
}

// `holdfast run --fenced`: the command knows its lock's fencing token.

using ::testing::AllOf;
using ::testing::Not;

class FencedRun : public on_server {
protected:
    std::string counter() { return server().command({"GET", "redisson_lock_token:{job}"}).text; }
    ended token_with(std::vector<std::string> options) {
        return run(shell("echo ${HOLDFAST_TOKEN-none}", std::move(options)), url());
    }
    const std::string h = "'" + program_path() + "' ";
};
HOLDFAST_ON_EACH_SERVER(FencedRun);

TEST_P(FencedRun, GivesTheCommandATokenThatGrows) {
    EXPECT_EQ(token_with({"--fenced"}).out, "1\n");
    EXPECT_EQ(token_with({"--fenced=counted"}).out, "2\n");
    server().command({"INCR", "redisson_lock_token:{job}"}); // as a JVM does
    EXPECT_EQ(token_with({"--fenced", "--lease", "10s", "-w", "5"}).out, "4\n");
    EXPECT_EQ(counter(), "4");
    EXPECT_FALSE(is_locked());
}

TEST_P(FencedRun, GivesDatedTokensThatOutliveTheServersData) {
    const std::uint64_t before = std::stoull(token_with({"--fenced=dated"}).out);
    EXPECT_GT(before, 1'600'000'000'000'000U);
    EXPECT_EQ(counter(), std::to_string(before));
    server().command({"FLUSHALL"});
    EXPECT_GT(std::stoull(token_with({"--fenced=dated"}).out), before);
}

TEST_P(FencedRun, WithoutItThereIsNoTokenAndNoCounter) {
    EXPECT_EQ(token_with({}).out, "none\n");
    EXPECT_EQ(server().command({"EXISTS", "redisson_lock_token:{job}"}).integer, 0);
}

TEST_P(FencedRun, ATokenIsAlwaysThatOfTheInnermostLock) {
    const std::string inside = "echo $HOLDFAST_LOCK ${HOLDFAST_TOKEN-none}";
    token_with({"--fenced"});
    EXPECT_EQ(
        run(shell(h + "run --fenced other sh -c '" + inside + "'; " + inside, {"--fenced"}), url())
            .out,
        "other 1\njob 2\n");
    EXPECT_EQ(run(shell(h + "run other sh -c '" + inside + "'", {"--fenced"}), url()).out,
              "other none\n");
}

TEST_P(FencedRun, ExcludesWhoRunsWithoutIt) {
    program holder{until_closed({"--fenced"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run(shell("true", {"-n"}), url()).status, 1);
    EXPECT_EQ(token_with({"-n", "--fenced"}).status, 1);
    EXPECT_EQ(counter(), "1") << "who is busy takes no token";
}

TEST_P(FencedRun, TellsTheTokenWhereMoreIsWanted) {
    EXPECT_THAT(token_with({"-v", "--fenced"}).err,
                AllOf(HasSubstr("has lock 'job' after "), HasSubstr(", with the token 1\n")));
    EXPECT_THAT(token_with({"-v"}).err, Not(HasSubstr("token")));
}

TEST_P(FencedRun, ACounterThatIsNoNumberIsTold) {
    server().command({"SET", "redisson_lock_token:{job}", "seven"});
    const ended refused = token_with({"--fenced"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr("not an integer"));
    EXPECT_FALSE(is_locked());
}

TEST_P(FencedRun, TheRightThatIsMissingIsTold) {
    server().command({"ACL", "SETUSER", "default", "-incrby"});
    const ended refused = token_with({"--fenced"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr("granted: +incrby"));
    EXPECT_FALSE(is_locked());
}

// `holdfast run` inside of `holdfast run`: what the inner one knows of the outer one.

class Nested : public on_server {
protected:
    const std::string h = "'" + program_path() + "' ";
    const std::string around = "is held by a 'holdfast run' around this command (HOLDFAST_LOCKS)";
};
HOLDFAST_ON_EACH_SERVER(Nested);

TEST_P(Nested, TheSameLockIsAWaitWithoutEndWhichIsTold) {
    program outer{shell(h + "run job true"), url()};
    EXPECT_TRUE(eventually([&] { return outer.said("holdfast: lock 'job' " + around); }));
    outer.signal(SIGTERM);
    EXPECT_EQ(outer.end().status, 128 + SIGTERM);
}

TEST_P(Nested, TheSameLockIsSeenBehindAnotherOne) {
    program outer{shell(h + "run other " + h + "run job true"), url()};
    EXPECT_TRUE(eventually([&] { return outer.said("holdfast: lock 'job' " + around); }));
    const ended busy =
        run(shell(h + "run other " + h + "run -n job true", {"-n", "-E", "9"}), url());
    EXPECT_EQ(busy.status, 9);
}

TEST_P(Nested, ABusyLockThatIsHeldAroundIsToldAsSuch) {
    const ended busy = run(shell(h + "run -n job true"), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_EQ(busy.err, "holdfast: lock 'job' is busy on " + url() +
                            ": a 'holdfast run' around this command holds it\n");
}

TEST_P(Nested, AnotherLockIsGivenWithoutAWord) {
    const ended fine = run(shell(h + "run other printenv HOLDFAST_LOCK HOLDFAST_LOCKS"), url());
    EXPECT_EQ(fine.status, 0);
    EXPECT_EQ(fine.out, "other\njob\nother\n");
    EXPECT_EQ(fine.err, "");
}

TEST_P(Nested, ANameMayHaveAnyByte) {
    const std::string odd = "a%\nb";
    const ended told =
        run({"run", odd, "sh", "-c", h + "run other printenv HOLDFAST_LOCKS"}, url());
    EXPECT_EQ(told.out, "a%25%0Ab\nother\n");
    const ended busy = run({"run", odd, "sh", "-c", h + "run -n \"$HOLDFAST_LOCK\" true"}, url());
    EXPECT_THAT(busy.err, HasSubstr("around this command holds it"));
}

TEST_P(Nested, LocksOfAnotherServerDoNotCount) {
    support::redis_server other;
    const ended fine =
        run(shell(h + "run --url " + other.url() + " job printenv HOLDFAST_LOCKS"), url());
    EXPECT_EQ(fine.out, "job\n");
    EXPECT_EQ(fine.err, "");
}

TEST_P(Nested, AScriptCanLockItself) {
    const std::string script = "[ \"$HOLDFAST_LOCK\" = job ] || exec " + h +
                               "run job -- sh -c \"$0\" \"$0\"; echo \"in $HOLDFAST_LOCK\"";
    const ended once = program{program::exactly{{"sh", "-c", script, script}}, url()}.end();
    EXPECT_EQ(once.out, "in job\n") << once.err;
}

} // namespace
} // namespace holdfast::cli_test
