// SPDX-License-Identifier: Apache-2.0
// `holdfast run --slots` and `--rate`: many at once, but not more than that.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;

class Slots : public on_server {};
HOLDFAST_ON_EACH_SERVER(Slots);

TEST_P(Slots, AsManyRunAtOnceAsThereAre) {
    program first{until_closed({"--slots", "2"}), url()};
    program second{until_closed({"--slots", "2"}), url()};
    EXPECT_EQ(first.line(), "held");
    EXPECT_EQ(second.line(), "held");
    const ended third = run(shell("true", {"-n", "--slots", "2"}), url());
    EXPECT_EQ(third.status, 1);
    EXPECT_THAT(third.err, HasSubstr("a slot of 'job' is busy"));
    first.close_stdin();
    EXPECT_EQ(first.end().status, 0);
    EXPECT_EQ(run(shell("exit 7", {"-n", "--slots", "2"}), url()).status, 7);
    second.close_stdin();
    EXPECT_EQ(second.end().status, 0);
    EXPECT_EQ(server().command({"GET", "job"}).text, "2");
}

TEST_P(Slots, OneWhoWaitsHasTheSlotThatIsGivenBack) {
    program holder{until_closed({"--slots", "1"}), url()};
    EXPECT_EQ(holder.line(), "held");
    program waiter{shell("echo mine", {"-v", "--slots", "1"}), url() + "?poll_bound=1h"};
    ASSERT_TRUE(eventually([&] { return waiter.said("1 of 1 slot are taken"); }));
    holder.close_stdin();
    EXPECT_EQ(waiter.line(), "mine");
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Slots, AKilledHoldersSlotComesBack) {
    program holder{until_closed({"--slots", "1", "--lease", "600ms"}), url()};
    EXPECT_EQ(holder.line(), "held");
    holder.signal(SIGKILL);
    EXPECT_EQ(run(shell("true", {"-w", "20", "--slots", "1"}), url()).status, 0);
}

TEST_P(Slots, ALostSlotStopsTheCommand) {
    program holder{until_closed({"--slots", "1", "--lease", "600ms"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "permits", "job"}, url()).status, 0);
    const ended lost = holder.end();
    EXPECT_EQ(lost.status, 75);
    EXPECT_THAT(lost.err, HasSubstr("was lost"));
}

TEST_P(Slots, SlotsWhoseHoldersWereLostAreSetAnew) {
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 0);
    server().command({"SET", "job", "0"}); // both were held, and the set of holders was evicted
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "2"}), url()).status, 0);
    EXPECT_EQ(server().command({"GET", "job"}).text, "2");
}

TEST_P(Slots, InspectTellsOfSlotsWhoseHoldersWereLost) {
    server().command({"SET", "job", "0"});
    const ended told = run({"inspect", "job"}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_THAT(told.out, HasSubstr("their holders were lost"));
    EXPECT_THAT(told.out, HasSubstr("unlock --force --type permits"));
}

TEST_P(Slots, AnotherNumberIsRefusedWithBoth) {
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 0);
    const ended other = run(shell("echo ran", {"--slots", "3"}), url());
    EXPECT_EQ(other.status, 65);
    EXPECT_EQ(other.out, "");
    EXPECT_THAT(other.err, HasSubstr("has 2 slots, and --slots says 3"));
    EXPECT_THAT(other.err, HasSubstr("holdfast unlock --force --type permits 'job'"));
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "permits", "job"}, url()).status, 0);
    EXPECT_EQ(run(shell("true", {"--slots", "3"}), url()).status, 0);
}

TEST_P(Slots, WhatHasTheNameAlreadyIsLeftAlone) {
    server().command({"RPUSH", "job", "x"});
    EXPECT_EQ(run(shell("true", {"--slots", "2"}), url()).status, 65);
    EXPECT_EQ(run(shell("true", {"--rate", "2/1m"}), url()).status, 65);
    EXPECT_EQ(server().command({"LLEN", "job"}).integer, 1);
}

TEST_P(Slots, ASlotIsHeldForAsLongAsWasAsked) {
    program holder{shell("echo done", {"-v", "--slots", "1", "--hold-for", "1h"}), url()};
    EXPECT_EQ(holder.line(), "done");
    ASSERT_TRUE(eventually([&] { return holder.said("a slot of 'job' is held for"); }));
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "1"}), url()).status, 1);
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_EQ(run(shell("true", {"-n", "--slots", "1"}), url()).status, 0);
}

TEST_P(Slots, TheyAreSeenByInspect) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"inspect", "--type", "permits", "job"}, url()).out,
              "name       job\nkind       permits\npermits    2\nheld       1\n"
              "listening  0 connection(s) wait for permits\n");
    const auto told =
        boost::json::parse(run({"inspect", "--json", "--type", "permits", "job"}, url()).out);
    EXPECT_EQ(told.at("count").as_int64(), 2);
    EXPECT_EQ(told.at("taken").as_int64(), 1);
}

TEST_P(Slots, TheyAreListedWithTheirType) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"SET", "gate", "4"});
    server().command({"SET", "text", "4 and more"});
    server().command({"SET", "redisson_lock_token:{job}", "4"});
    const ended seats = run({"ls", "--type", "permits"}, url());
    EXPECT_EQ(seats.status, 0);
    EXPECT_THAT(seats.out, testing::MatchesRegex("NAME .*\njob +permits +2 permits, 1 held +0\n"));
    const ended rates = run({"ls", "--type", "rate"}, url());
    EXPECT_THAT(rates.out, testing::HasSubstr("4 left of 5 permits in any 1h"));
    for (const char* const type : {"latch", "semaphore"})
        EXPECT_EQ(run({"ls", "-1", "--type", type}, url()).out, "gate\n");
    const auto told = boost::json::parse(run({"ls", "--json", "--type", "permits"}, url()).out);
    EXPECT_EQ(told.at("counters").at(0).at("taken").as_int64(), 1);
    EXPECT_TRUE(told.at("complete").as_bool());
    EXPECT_EQ(run({"ls", "--type", "permits", "none*"}, url()).out, "");
    EXPECT_EQ(run({"ls", "-1"}, url()).out, "") << "none of these is a lock";
}

TEST_P(Slots, WhatItsOwnKeysTellIsListedBesideTheLocks) {
    program holder{until_closed({"--slots", "3"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "--rate", "5/1h", "mails", "true"}, url()).status, 0);
    server().command({"SET", "gate", "4"});
    server().command({"HSET", "lock", "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    EXPECT_THAT(run({"ls"}, url()).out,
                testing::MatchesRegex("NAME .*\nlock +lock +Redisson .*\n"
                                      "job +permits +2 permits, 1 held +- +- +0\n"
                                      "mails +rate +4 left of 5 permits in any 1h +- +- +-\n"));
    const auto told = boost::json::parse(run({"ls", "--json"}, url()).out);
    EXPECT_EQ(told.at("locks").as_array().size(), 1u);
    EXPECT_EQ(told.at("counters").at(0).at("kind").as_string(), "permits");
    EXPECT_EQ(told.at("counters").at(1).at("name").as_string(), "mails");
    EXPECT_THAT(run({"ls", "m*"}, url()).out, testing::Not(HasSubstr("job")));
}

class Rate : public on_server {};
HOLDFAST_ON_EACH_SERVER(Rate);

TEST_P(Rate, NoMoreStartThanItAllows) {
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(run(shell("exit 7", {"-n", "--rate", "2/1h"}), url()).status, 7);
    const ended third = run(shell("echo ran", {"-n", "--rate", "2/1h"}), url());
    EXPECT_EQ(third.status, 1);
    EXPECT_EQ(third.out, "");
    EXPECT_THAT(third.err, HasSubstr("the rate of 'job' lets no more start now"));
    EXPECT_EQ(run(shell("true", {"-w", "0.2", "-E", "9", "--rate", "2/1h"}), url()).status, 9);
}

TEST_P(Rate, OneWhoWaitsStartsWhenItsTurnHasCome) {
    const time_point start = boot_clock::now();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(run(shell("true", {"--rate", "1/300ms"}), url()).status, 0);
    EXPECT_GE(boot_clock::now() - start, std::chrono::milliseconds{598});
}

TEST_P(Rate, NothingIsHeldWhileTheCommandRuns) {
    program first{shell("echo \"held <$HOLDFAST_LOCK>\"; read nothing", {"--rate", "2/1h"}), url()};
    EXPECT_EQ(first.line(), "held <>");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "rate", "job"}, url()).status, 0);
    first.close_stdin();
    EXPECT_EQ(first.end().status, 1) << "that of the command's read";
    EXPECT_EQ(server().command({"EXISTS", "job"}).integer, 0);
}

TEST_P(Rate, AnotherRateIsRefusedWithBoth) {
    EXPECT_EQ(run(shell("true", {"--rate", "2/1m"}), url()).status, 0);
    const ended other = run(shell("echo ran", {"--rate", "2/61"}), url());
    EXPECT_EQ(other.status, 65);
    EXPECT_EQ(other.out, "");
    EXPECT_THAT(other.err, HasSubstr("has a rate of 2 starts in any 1m, and --rate says 2 starts "
                                     "in any 61s"));
    EXPECT_EQ(run({"inspect", "--type", "rate", "job"}, url()).out,
              "name       job\nkind       rate\npermits    1\nrate       2 permits in any 1m\n");
}

} // namespace
} // namespace holdfast::cli_test
