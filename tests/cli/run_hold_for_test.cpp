// SPDX-License-Identifier: Apache-2.0
// `holdfast run --hold-for`: a lock that outlives a short command.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <utility>

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

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
    const auto holder = after_command("echo done", {"-v", "--lease", "900ms", "--hold-for", "1h"});
    std::int64_t left = server().command({"PTTL", name}).integer;
    for (int renewals = 0; renewals < 4; ++renewals) // a lease, and more
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
    program holder{shell("trap 'exit 5' TERM; echo held; read nothing", long_after), url()};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 5);
}

TEST_P(HoldFor, ALossAfterTheCommandIsToldAndItsStatusStays) {
    const auto holder = after_command("echo done", {"-v", "--lease", "900ms", "--hold-for", "1h"});
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

} // namespace
} // namespace holdfast::cli_test
