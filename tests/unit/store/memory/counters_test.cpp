// SPDX-License-Identifier: Apache-2.0
// What requests about counters meet on their way, and that each counts once whatever it meets.
#include "memory_world.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/counters.hpp>

namespace holdfast::memory {
namespace {

constexpr auto semaphore = counter_kind::semaphore;

struct MemoryCounters : MemoryWorld {
    std::uint64_t last = 0;

    owner_id next(const guest& who) { return {who.id.client, ++last}; }
    counter_store& counters(guest& who) { return *who.home->counters(); }
    std::unique_ptr<place> wants(guest& who, std::int64_t amount, counter_kind kind = semaphore) {
        counter_ask patient{"n", next(who), kind, amount};
        patient.give_up_at = time_point::max();
        return counters(who).line_up(std::move(patient), *who.wake);
    }
    counter_change adds(std::int64_t amount) {
        return {"n", next(alice), semaphore, counter_verb::add, amount};
    }
    asio::awaitable<error_code> failure_of_change(counter_change what) {
        co_return co_await failure_of(counters(alice).change(std::move(what)));
    }
    asio::awaitable<error_code> failure_of_look(place& spot) {
        co_return co_await failure_of(spot.look());
    }
};

TEST_F(MemoryCounters, EveryKindIsOffered) {
    const counter_store& at = counters(alice);
    for (const counter_kind kind :
         {counter_kind::semaphore, counter_kind::permits, counter_kind::latch, counter_kind::rate})
        EXPECT_TRUE(at.offers(kind));
    EXPECT_TRUE(at.objection_to("", semaphore));
    EXPECT_FALSE(at.objection_to("n", semaphore));
    EXPECT_EQ(at.memory(), 60s);
}

TEST_F(MemoryCounters, AChangeWhoseAnswerWasLostCountsOnceWhenItIsRepeated) {
    fates = {{.answer_lost = true}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const counter_change add = w.adds(2);
        EXPECT_EQ(co_await w.failure_of_change(add), errc::outcome_unknown);
        EXPECT_EQ(w.there.counter("n"), 2);
        const counter_answer said = co_await w.counters(w.alice).change(add);
        EXPECT_TRUE(said.done);
        EXPECT_EQ(said.value, 2);
        EXPECT_EQ(w.there.counter("n"), 2);
    }(*this));
}

TEST_F(MemoryCounters, AChangeThatIsCarriedOutAgainCountsOnce) {
    fates = {{.executed_again = 1s}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const counter_answer said = co_await w.counters(w.alice).change(w.adds(2));
        EXPECT_EQ(said.value, 2);
        co_await w.sleep_for(2s);
        EXPECT_EQ(w.there.counter("n"), 2);
    }(*this));
}

TEST_F(MemoryCounters, AChangeThatComesLateDoesNothing) {
    fates = {{.request_delay = 3s + 1ms}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.failure_of_change(w.adds(2)), errc::outcome_unknown);
        co_await w.sleep_for(1s);
        EXPECT_FALSE(w.there.counter("n"));
    }(*this));
}

TEST_F(MemoryCounters, WhereTheRequestIsForgottenItCountsTwice) {
    there.inside()->forget_requests();
    fates = {{.executed_again = 1s}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        (void)co_await w.counters(w.alice).change(w.adds(2));
        co_await w.sleep_for(2s);
        EXPECT_EQ(w.there.counter("n"), 4);
    }(*this));
}

TEST_F(MemoryCounters, ALookWhoseAnswerWasLostHasTakenOnce) {
    there.add_to_counter("n", 3);
    fates = {{.answer_lost = true}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto spot = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::outcome_unknown);
        EXPECT_TRUE(spot->uncertain());
        EXPECT_TRUE(spot->must_leave());
        const answer said = co_await spot->look();
        EXPECT_TRUE(said.granted);
        EXPECT_EQ(w.there.counter("n"), 1);
    }(*this));
}

TEST_F(MemoryCounters, AnUncertainLookIsGivenBackAndTakesNothingLater) {
    there.add_to_counter("n", 3);
    fates = {{.answer_lost = true}, {}, {.request_delay = 2s, .cut_off = 1s}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto first = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*first), errc::outcome_unknown);
        EXPECT_EQ(w.there.counter("n"), 1);
        co_await first->leave();
        EXPECT_EQ(w.there.counter("n"), 3);
        const auto second = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*second), errc::outcome_unknown);
        co_await second->leave();
        co_await w.sleep_for(2s);
        EXPECT_EQ(w.there.counter("n"), 3) << "the look came after it was left";
    }(*this));
}

TEST_F(MemoryCounters, ARefusedLookLeavesNothing) {
    there.add_to_counter("n", 3);
    fates = {{.refused = true}, {.denied = true}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto spot = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::unreachable);
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::refused);
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(w.there.counter("n"), 3);
    }(*this));
}

TEST_F(MemoryCounters, PermitsWakeThoseWhoCanHaveThem) {
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto of_alice = w.wants(w.alice, 2);
        const auto of_bob = w.wants(w.bob, 1);
        for (int times = 0; times < 2; ++times) {
            (void)co_await of_alice->look();
            (void)co_await of_bob->look();
        }
        EXPECT_EQ(w.there.listener_count(), 2u);
        w.there.add_to_counter("n", 1);
        co_await w.bob.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 0s) << "Bob was rung";
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s) << "Alice was not";
        w.there.add_to_counter("n", 1);
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryCounters, AnOpenLatchWakesAll) {
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        counter_change close{"n", w.next(w.alice), counter_kind::latch, counter_verb::set_new, 2};
        (void)co_await w.counters(w.alice).change(close);
        const auto of_alice = w.wants(w.alice, 0, counter_kind::latch);
        const auto of_bob = w.wants(w.bob, 0, counter_kind::latch);
        for (int times = 0; times < 2; ++times) {
            (void)co_await of_alice->look();
            (void)co_await of_bob->look();
        }
        w.there.count_down("n", 2);
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        co_await w.bob.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 0s);
        const answer said = co_await of_bob->look();
        EXPECT_TRUE(said.granted);
        EXPECT_FALSE(of_bob->must_leave()) << "nothing was taken";
    }(*this));
}

TEST_F(MemoryCounters, LocksAndCountersDoNotShareAName) {
    there.occupy("n", 30s);
    there.add_to_counter("stock", 1);
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.failure_of_change(w.adds(1)), errc::refused);
        const auto permits = w.wants(w.alice, 1);
        EXPECT_EQ(co_await w.failure_of_look(*permits), errc::refused);
        EXPECT_EQ(co_await failure_of(w.counters(w.alice).inspect("n", semaphore)), errc::refused);
        const auto lock = w.alice.line_up("stock");
        EXPECT_EQ(co_await w.failure_of_look(*lock), errc::refused);
    }(*this));
}

TEST_F(MemoryCounters, ARestartForgetsCountersAndRequests) {
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const counter_change add = w.adds(2);
        (void)co_await w.counters(w.alice).change(add);
        EXPECT_EQ(w.there.inside()->requests_remembered(), 1u);
        w.there.restart_empty();
        EXPECT_FALSE(w.there.counter("n"));
        EXPECT_EQ(w.there.inside()->requests_remembered(), 0u);
        w.there.add_to_counter("n", 1);
        EXPECT_TRUE(w.there.evict("n"));
        const counter_state seen = co_await w.counters(w.alice).inspect("n", semaphore);
        EXPECT_FALSE(seen.exists);
    }(*this));
}

} // namespace
} // namespace holdfast::memory
