// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "store/mysql/counters.hpp"
#include "store/mysql/inspector.hpp"
#include "store/mysql/lock_requests.hpp"
#include "store/mysql/request_context.hpp"
#include "store/mysql/sql.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"

#include <holdfast/store.hpp>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mysql {

// A store's requests without a server.

using namespace std::chrono_literals;

class one_connection final : public pinned_connection {
public:
    bool is_cut() const noexcept override { return false; }
    void cut() noexcept override {}
};

/// Answers each statement with its number, counted from the first of all.
class answering_database final : public database {
public:
    asio::awaitable<answers> run(statements& what, call_options options) override {
        sent.push_back(what.compose(clock, of_server));
        with.push_back(options);
        undone.push_back(options.undo ? *options.undo : "");
        if (refuses)
            if (const auto why = refuses(sent.back()))
                throw net::failure{*why, "refused"};
        answers said;
        for (std::size_t i = 0; i < std::min(sent.back().size(), answers_most); ++i) {
            ++number;
            said.of.push_back({.matched = number, .insert_id = number});
        }
        said.by = line;
        co_return said;
    }
    asio::awaitable<std::shared_ptr<pinned_connection>> connection_to_wait_on(time_point) override {
        co_return nullptr;
    }
    std::optional<server_facts> facts() const override { return of_server; }
    bool has_bells() const override { return wakeup_locks; }
    void no_bells_here() noexcept override { wakeup_locks = false; }
    duration command_timeout() const noexcept override { return 1s; }
    std::string address() const override { return "a"; }
    void close() noexcept override {}

    server_facts of_server;
    runtime::remote_clock clock;
    std::shared_ptr<pinned_connection> line = std::make_shared<one_connection>();
    std::vector<std::vector<std::string>> sent;
    std::vector<call_options> with;
    std::vector<std::string> undone; ///< their `undo`
    std::function<std::optional<error_code>(const std::vector<std::string>&)> refuses;
    std::size_t answers_most = 100;
    std::uint64_t number = 0;
    bool wakeup_locks = false;
};

class on_answering_database : public ::testing::Test {
protected:
    template <typename T>
    T run(asio::awaitable<T> call) {
        T got{};
        std::exception_ptr failed;
        asio::co_spawn(io_, std::move(call), [&](const std::exception_ptr& why, T said) {
            failed = why;
            got = std::move(said);
        });
        io_.restart();
        io_.run();
        if (failed)
            std::rethrow_exception(failed);
        return got;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    answering_database server_;
    request_context at_{.server = server_,
                        .context = home_,
                        .named = tables{"t"},
                        .schema = {},
                        .table = {},
                        .info = {}};
};

namespace {

TEST(MysqlNames, ValuesAreDigitsWhateverTheirBytesAre) {
    EXPECT_EQ(hex("lock"), "X'6c6f636b'");
    EXPECT_EQ(hex(""), "X''");
    EXPECT_EQ(hex(std::string{"\0'\\\xff", 4}), "X'00275cff'");
}

TEST(MysqlNames, TablesAreQuotedAndBeginWithTheFirst) {
    const tables named{"my`locks"};
    EXPECT_EQ(named.locks, "`my``locks`");
    EXPECT_EQ(named.holds, "`my``locks_hold`");
    EXPECT_EQ(named.identity, "`my``locks_identity`");
}

TEST(MysqlNames, ABellIsWhatEveryServerTakesForAUserLock) {
    const std::string bell = bell_of("shop", "holdfast_lock", {"Stock"});
    EXPECT_EQ(bell.size(), 43U);
    EXPECT_THAT(bell, testing::MatchesRegex("hf:[0-9a-f]{40}"));
}

TEST(MysqlNames, BellsDifferBySchemaTableNameAndCase) {
    const std::set<std::string> all{bell_of("a", "t", {"n"}), bell_of("A", "t", {"n"}),
                                    bell_of("a", "u", {"n"}), bell_of("a", "t", {"N"}),
                                    bell_of("", "at", {"n"}), bell_of("a", "t", {"n "})};
    EXPECT_EQ(all.size(), 6U);
}

TEST(MysqlDeadlines, OfAnUnknownClockAreOverSoTheAnswerTellsTheTime) {
    EXPECT_EQ(late_after(runtime::remote_clock{}, time_point{duration{5000}}), "0");
}

TEST(MysqlDeadlines, AreOnTheServersClockAndNeverLaterThanOurs) {
    runtime::remote_clock clock;
    const time_point sent{duration{1000}}, received{duration{1010}};
    clock.learn(sent, received, std::chrono::seconds{1'700'000'000});
    const std::int64_t late = std::stoll(late_after(clock, time_point{duration{2000}}));
    const std::int64_t shown = 1'700'000'000'000'000;
    EXPECT_LE(late, shown + 990'000);
    EXPECT_GT(late, shown + 900'000);
}

TEST(MysqlDeadlines, TooFarAwayToBeSaidAreNone) {
    runtime::remote_clock clock;
    clock.learn(time_point{duration{1}}, time_point{duration{2}}, std::chrono::seconds{1});
    EXPECT_EQ(late_after(clock, time_point::max()), "9223372036854775807");
}

using remote::verdict;

constexpr std::uint64_t at_ms = 1'795'618'292'688;

std::uint64_t refusal(std::uint64_t reason) {
    return refused_bit + (at_ms << reason_bits) + reason;
}

TEST(PackedAnswer, OfNoRowIsNoGrant) {
    const packed_answer told = taken_apart(0);
    EXPECT_TRUE(told.no_row);
    EXPECT_EQ(told.said, verdict::busy);
}

TEST(PackedAnswer, BelowTheBellsBitIsTheLastToken) {
    for (const std::uint64_t token :
         {std::uint64_t{1}, std::uint64_t{1'795'618'292'687'665}, bell_bit - 1}) {
        const packed_answer told = taken_apart(token);
        EXPECT_EQ(told.said, verdict::granted);
        EXPECT_EQ(told.last_token, token);
        EXPECT_FALSE(told.no_row);
        EXPECT_EQ(told.server_now.count(), 0) << "a grant does not tell the time";
    }
}

TEST(PackedAnswer, TellsTheServersClockWithEachRefusal) {
    for (const std::uint64_t reason :
         {late_reason, std::uint64_t{1}, longest_left, conflict_reason, unfounded_reason})
        EXPECT_EQ(taken_apart(refusal(reason)).server_now, std::chrono::milliseconds{at_ms});
}

TEST(PackedAnswer, OfABusyLockTellsWhatIsLeft) {
    const packed_answer told = taken_apart(refusal(29'999));
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_EQ(told.left, duration{29'999});
    EXPECT_EQ(taken_apart(refusal(1)).left, duration{1});
}

TEST(PackedAnswer, DoesNotTellWhatIsLeftWhereThatIsTooLong) {
    const packed_answer told = taken_apart(refusal(longest_left));
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_FALSE(told.left);
}

TEST(PackedAnswer, TellsOtherReasonsApart) {
    EXPECT_EQ(taken_apart(refusal(late_reason)).said, verdict::late);
    EXPECT_EQ(taken_apart(refusal(conflict_reason)).said, verdict::conflict);
    EXPECT_EQ(taken_apart(refusal(unfounded_reason)).said, verdict::unfounded);
}

TEST(PackedAnswer, OfAGrantTellsOfTheBell) {
    const packed_answer told = taken_apart(1'795'618'060'000'000 + bell_bit);
    EXPECT_EQ(told.said, verdict::granted);
    EXPECT_EQ(told.last_token, 1'795'618'060'000'000U);
    EXPECT_TRUE(told.has_bell);
    EXPECT_FALSE(taken_apart(1'795'618'060'000'000).has_bell);
    EXPECT_FALSE(taken_apart(refusal(29'999)).has_bell);
}

using ::testing::ElementsAre;

class TwoWrites : public on_answering_database {
protected:
    const std::vector<std::string> reading_{"read", "look"};
    const read_then_write::maker writing_ = [](const runtime::remote_clock&) {
        return std::vector<std::string>{"write"};
    };
};

TEST_F(TwoWrites, AreOneTransactionOnOneConnection) {
    server_.of_server = {.is_mariadb = true};
    read_then_write both{at_, {.reserved = true}};
    run(both.begin(reading_));
    run(both.end(writing_));
    EXPECT_THAT(server_.sent, ElementsAre(ElementsAre("SET SESSION idle_transaction_timeout=3",
                                                      "START TRANSACTION", "read", "look"),
                                          ElementsAre("write", "COMMIT",
                                                      "SET SESSION idle_transaction_timeout=0")));
    EXPECT_TRUE(server_.with[0].leaves_open && server_.with[0].reserved);
    EXPECT_FALSE(server_.with[1].leaves_open);
    EXPECT_TRUE(server_.with[1].reserved);
    EXPECT_EQ(server_.with[1].on, server_.line);
    EXPECT_EQ(server_.with[1].effect_at, 0u) << "the first write changes nothing that matters";
}

TEST_F(TwoWrites, TheAnswersAreThoseToWhatWasAsked) {
    read_then_write both{at_};
    const answers said = run(both.begin(reading_));
    ASSERT_EQ(said.of.size(), 2u);
    EXPECT_EQ(said.of[0].matched, 3u);
    EXPECT_EQ(run(both.end(writing_)).of[0].matched, 5u);
}

TEST_F(TwoWrites, MySqlIsGivenItsUsualTimeoutBack) {
    server_.of_server = {.idle_limit = 8h};
    read_then_write both{at_};
    run(both.begin(reading_));
    run(both.end([](const runtime::remote_clock&) { return std::vector<std::string>{}; }));
    EXPECT_EQ(server_.sent[0][0], "SET SESSION wait_timeout=3");
    EXPECT_THAT(server_.sent[1], ElementsAre("COMMIT", "SET SESSION wait_timeout=28800"));
}

TEST_F(TwoWrites, AFailureOfTheFirstWriteRestoresTheTimeout) {
    server_.of_server = {.idle_limit = 8h};
    server_.refuses = [](const auto&) { return make_error_code(store_errc::no_permission); };
    for (const bool is_mariadb : {false, true}) {
        server_.of_server.is_mariadb = is_mariadb;
        read_then_write both{at_};
        EXPECT_EQ(support::code_of([&] { run(both.begin(reading_)); }), store_errc::no_permission);
    }
    EXPECT_THAT(server_.undone, ElementsAre("SET SESSION wait_timeout=28800",
                                            "SET SESSION idle_transaction_timeout=0"));
}

TEST_F(TwoWrites, TooFewAnswersMakeNoSense) {
    server_.answers_most = 2;
    read_then_write both{at_};
    EXPECT_EQ(support::code_of([&] { run(both.begin(reading_)); }), store_errc::protocol);
}

TEST(OneWait, IsTheFirstWriteOnMariaDb) {
    const std::string at_once = "SET STATEMENT lock_wait_timeout=0 FOR ";
    EXPECT_THAT(
        with_one_wait({"START TRANSACTION", "UPDATE a", "SELECT 1", "INSERT INTO b", "COMMIT"}),
        ElementsAre("START TRANSACTION", "UPDATE a", "SELECT 1", at_once + "INSERT INTO b",
                    "COMMIT"));
    EXPECT_THAT(with_one_wait({"SELECT 1 FROM a FOR UPDATE", "DELETE FROM b"}),
                ElementsAre("SELECT 1 FROM a FOR UPDATE", at_once + "DELETE FROM b"));
}

TEST(WhoHolds, IsReadAsItWasWritten) {
    const client_info info{"host-1", 4711, "worker", "orders", std::chrono::seconds{1'795'618'292}};
    const std::optional<client_info> read = client_info_in(written(info));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->host, info.host);
    EXPECT_EQ(read->pid, info.pid);
    EXPECT_EQ(read->program, info.program);
    EXPECT_EQ(read->label, info.label);
    EXPECT_EQ(read->since, info.since);
}

TEST(WhoHolds, FitsIntoItsColumn) {
    const std::string longest(300, 'x');
    const client_info info{longest, 1'000'000'000, longest, longest,
                           std::chrono::seconds{1} * 1'000'000'000'000};
    EXPECT_LE(written(info).size(), 255U);
    EXPECT_TRUE(client_info_in(written(info)));
}

TEST(WhoHolds, ATabInAWordSeparatesNothing) {
    const std::optional<client_info> read = client_info_in(written({"h", 1, "p", "a\tb", {}}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->label, "a b");
}

TEST(WhoHolds, IsUnknownWhereSomethingElseStands) {
    for (const char* const other :
         {"", "somebody", "h\tx\tp\tl\t1", "h\t1\tp\tl", "h\t1\tp\tl\t1\t2"})
        EXPECT_FALSE(client_info_in(other)) << other;
}

TEST(WhoHolds, OwnersOfOursHaveAMark) {
    EXPECT_TRUE(is_ours(to_string(owner_id{{0x87, 0x43, 0, 0, 0, 0, 0x8f, 0xd5}, 1})));
    EXPECT_FALSE(is_ours("8743c9c0-0795-4907-87fd-6c719a6b4586:1"));
    EXPECT_FALSE(is_ours("x"));
}

counter_change latch(counter_verb verb, std::int64_t amount = 0) {
    return {"l", owner_id{}, counter_kind::latch, verb, amount};
}

counter_change permits(counter_verb verb, std::int64_t amount = 0) {
    return {"p", owner_id{}, counter_kind::permits, verb, amount};
}

TEST(CounterEffect, ALatchCountsDownAndIsGoneAtZero) {
    const counter_effect two = effect_of(latch(counter_verb::count_down, 1), {.value = 3});
    EXPECT_EQ(two.value, 2);
    EXPECT_EQ(two.said.value, 2);
    EXPECT_FALSE(two.said.done);

    const counter_effect open = effect_of(latch(counter_verb::count_down, 5), {.value = 2});
    EXPECT_TRUE(open.said.done);
    EXPECT_TRUE(open.changes);
    EXPECT_FALSE(open.value);
}

TEST(CounterEffect, ALatchThatIsNotThereStaysSo) {
    const counter_effect none = effect_of(latch(counter_verb::count_down, 1), {});
    EXPECT_FALSE(none.said.done);
    EXPECT_FALSE(none.changes);
}

TEST(CounterEffect, WhatIsThereIsNotSetAnew) {
    const counter_effect made = effect_of(latch(counter_verb::set_new, 4), {});
    EXPECT_TRUE(made.said.done);
    EXPECT_EQ(made.value, 4);
    const counter_effect kept = effect_of(latch(counter_verb::set_new, 4), {.value = 1});
    EXPECT_FALSE(kept.said.done);
    EXPECT_FALSE(kept.changes);
    EXPECT_EQ(kept.said.value, 1);
}

TEST(CounterEffect, PermitsThatAreHeldCountForAllAndAreNotFree) {
    const counter_now now{.value = 5, .held = 2};
    const counter_effect more = effect_of(permits(counter_verb::add, 1), now);
    EXPECT_EQ(more.value, 6);
    EXPECT_EQ(more.said.value, 4);
    const counter_effect fewer = effect_of(permits(counter_verb::take_back, 4), now);
    EXPECT_EQ(fewer.value, 1);
    EXPECT_EQ(fewer.said.value, -1) << "who holds one keeps it";
    EXPECT_EQ(effect_of(permits(counter_verb::set, 3), now).said.value, 1);
}

TEST(CounterEffect, MorePermitsThanCanBeAreRefused) {
    const counter_effect beyond = effect_of(permits(counter_verb::add, counted_max), {.value = 1});
    EXPECT_TRUE(beyond.said.beyond);
    EXPECT_FALSE(beyond.said.done);
    EXPECT_FALSE(beyond.changes);
    EXPECT_EQ(beyond.said.value, 1);
}

TEST(CounterEffect, APermitIsGivenBackOnlyIfItIsHeld) {
    const counter_now held{.value = 2, .held = 1, .that_permit_is_held = true};
    const counter_effect back = effect_of(permits(counter_verb::give_back), held);
    EXPECT_TRUE(back.said.done);
    EXPECT_TRUE(back.ends_permit);
    EXPECT_EQ(back.said.value, 2);
    const counter_effect lease = effect_of(permits(counter_verb::set_lease), held);
    EXPECT_TRUE(lease.sets_lease);
    EXPECT_EQ(lease.said.value, 1);
    EXPECT_FALSE(effect_of(permits(counter_verb::give_back), {.value = 2}).said.done);
}

TEST(CounterEffect, ErasingTellsWhetherItWasThere) {
    EXPECT_TRUE(effect_of(permits(counter_verb::erase), {.value = 0}).said.done);
    EXPECT_FALSE(effect_of(permits(counter_verb::erase), {}).changes);
}

// A bell is only a hint: a server that refuses it grants locks all the same.

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class BellRefused : public on_answering_database {
protected:
    void SetUp() override {
        server_.wakeup_locks = true;
        want_.lease_time = 30s;
    }
    void refuse_bells_with(store_errc why) {
        server_.refuses = [why](const std::vector<std::string>& all) -> std::optional<error_code> {
            if (all.front().find("GET_LOCK") == std::string::npos)
                return std::nullopt;
            return make_error_code(why);
        };
    }
    taken take(bool may_be_free = true) {
        return run(take_lock(at_, want_, {time_point::max(), nullptr, may_be_free}));
    }

    ask want_{lock_name{"L"}, owner_id{{1}, 1}, lock_kind::plain};
};

TEST_F(BellRefused, ForGoodIsNotAskedForAgain) {
    refuse_bells_with(store_errc::other);
    EXPECT_EQ(take().seen.said, remote::verdict::granted);
    ASSERT_THAT(server_.sent, SizeIs(2));
    EXPECT_THAT(server_.sent.back(), Each(Not(HasSubstr("GET_LOCK"))));
    EXPECT_FALSE(server_.wakeup_locks);
    take();
    EXPECT_THAT(server_.sent, SizeIs(3));
}

TEST_F(BellRefused, ForAMomentIsAskedForTheNextTime) {
    refuse_bells_with(store_errc::try_again);
    EXPECT_EQ(take().seen.said, remote::verdict::granted);
    EXPECT_TRUE(server_.wakeup_locks);
    take();
    EXPECT_THAT(server_.sent, SizeIs(4));
}

TEST_F(BellRefused, IsNotTakenForWhatIsNoneOfItsOwn) {
    refuse_bells_with(store_errc::read_only);
    EXPECT_THROW(take(), net::failure);
    EXPECT_THAT(server_.sent, SizeIs(1));
    EXPECT_TRUE(server_.wakeup_locks);
}

TEST_F(BellRefused, OnlyTogetherWithTheLockSaysNothingOfTheBell) {
    server_.refuses = [](const auto&) { return make_error_code(store_errc::other); };
    EXPECT_THROW(take(), net::failure);
    EXPECT_TRUE(server_.wakeup_locks);
}

// ROLLBACK does not give it back.
TEST_F(BellRefused, AnAttemptThatFailsLeavesNone) {
    take();
    ASSERT_THAT(server_.with, SizeIs(1));
    EXPECT_EQ(server_.undone.at(0), "DO RELEASE_LOCK('" + at_.bell(want_.name) + "')");
}

TEST_F(BellRefused, WhoWasBusyIsAskedInFullAtOnce) {
    take(false);
    ASSERT_THAT(server_.sent, SizeIs(1));
    EXPECT_THAT(server_.sent.front().front(), AllOf(HasSubstr("CASE"), HasSubstr("GET_LOCK")));
}

} // namespace
} // namespace holdfast::mysql
