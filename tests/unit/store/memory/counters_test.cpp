// SPDX-License-Identifier: Apache-2.0
// Counters of the memory store, and requests that are sent twice but executed once.
#include "memory_world.hpp"
#include "store/memory/counter_tables.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/counters.hpp>

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;

constexpr duration remembered = 60s;

struct CounterTable : testing::Test {
    time_point now{};
    server_clock clock{[this] { return now; }};
    counter_table table{clock};
    std::uint64_t last = 0;

    owner_id next() { return {.client = {'a'}, .number = ++last}; }

    change_verdict change(counter_kind kind, counter_verb verb, std::int64_t amount = 0,
                          std::int64_t most = 0, duration kept = {}) {
        counter_change what{"n", next(), kind, verb, amount};
        what.most = most;
        what.kept = kept;
        return table.change(what, remembered);
    }
    change_verdict permits(counter_verb verb, std::int64_t amount = 0, std::int64_t most = 0) {
        return change(counter_kind::semaphore, verb, amount, most);
    }
    change_verdict latch(counter_verb verb, std::int64_t amount = 0) {
        return change(counter_kind::latch, verb, amount);
    }
    counter_ask wants(std::int64_t amount, counter_kind kind = counter_kind::semaphore) {
        return {"n", next(), kind, amount};
    }
    verdict look(const counter_ask& want) { return table.look(want, remembered).said; }
    std::optional<std::int64_t> value() const { return table.value("n"); }
};

TEST_F(CounterTable, PermitsAreTakenWhereThereAreEnough) {
    EXPECT_EQ(look(wants(1)), verdict::busy) << "nobody made it";
    EXPECT_EQ(permits(counter_verb::add, 3).what.value, 3);
    EXPECT_EQ(look(wants(4)), verdict::busy);
    EXPECT_EQ(look(wants(2)), verdict::granted);
    EXPECT_EQ(value(), 1);
}

TEST_F(CounterTable, WhatHasNoRoomIsNotAdded) {
    permits(counter_verb::add, 3);
    const change_verdict above_its_own = permits(counter_verb::add, 2, 4);
    EXPECT_FALSE(above_its_own.what.done);
    EXPECT_EQ(above_its_own.what.value, 3);
    EXPECT_EQ(above_its_own.rings, 0);
    EXPECT_TRUE(permits(counter_verb::add, 1, 4).what.done);
    EXPECT_TRUE(permits(counter_verb::add, counted_max - 4).what.done);
    EXPECT_FALSE(permits(counter_verb::add, 1).what.done);
    EXPECT_EQ(value(), counted_max);
}

TEST_F(CounterTable, TakenBackMayBeMoreThanThereIs) {
    EXPECT_EQ(permits(counter_verb::take_back, 5).what.value, -5);
    const change_verdict added = permits(counter_verb::add, 10);
    EXPECT_EQ(added.what.value, 5);
    EXPECT_EQ(added.rings, 5) << "the whole number can be had";
}

TEST_F(CounterTable, OnlyWhatIsThereIsAddedToOrDrained) {
    EXPECT_FALSE(permits(counter_verb::add_if_there, 1).what.done);
    EXPECT_EQ(permits(counter_verb::drain).what.value, 0);
    EXPECT_FALSE(value());
    permits(counter_verb::set_new, 7);
    EXPECT_FALSE(permits(counter_verb::set_new, 9).what.done);
    EXPECT_TRUE(permits(counter_verb::add_if_there, 1).what.done);
    EXPECT_EQ(permits(counter_verb::drain).what.value, 8);
    EXPECT_EQ(value(), 0);
    EXPECT_TRUE(permits(counter_verb::erase).what.done);
    EXPECT_FALSE(permits(counter_verb::erase).what.done);
}

TEST_F(CounterTable, WhatIsKeptForAWhileGoesWhateverWasDoneWithIt) {
    change(counter_kind::semaphore, counter_verb::set_new, 7, 0, 10s);
    permits(counter_verb::add, 1);
    permits(counter_verb::drain);
    EXPECT_EQ(look(wants(1)), verdict::busy);
    now += 10s - 1ms;
    EXPECT_EQ(value(), 0);
    now += 1ms;
    EXPECT_FALSE(value());
}

TEST_F(CounterTable, ALatchOpensAtZeroAndIsTold) {
    EXPECT_EQ(look(wants(0, counter_kind::latch)), verdict::granted) << "absent is open";
    latch(counter_verb::set_new, 3);
    EXPECT_EQ(look(wants(0, counter_kind::latch)), verdict::busy);
    const change_verdict closed_still = latch(counter_verb::count_down, 2);
    EXPECT_FALSE(closed_still.what.done);
    EXPECT_EQ(closed_still.what.value, 1);
    EXPECT_EQ(closed_still.rings, 0);
    const change_verdict opens = latch(counter_verb::count_down, 5);
    EXPECT_TRUE(opens.what.done);
    EXPECT_EQ(opens.what.value, 0);
    EXPECT_EQ(opens.rings, 1);
    EXPECT_FALSE(value());
    EXPECT_EQ(look(wants(0, counter_kind::latch)), verdict::granted);
    EXPECT_FALSE(latch(counter_verb::count_down, 1).what.done) << "it was open";
    EXPECT_FALSE(value());
}

TEST_F(CounterTable, ALatchThatIsErasedIsOpen) {
    latch(counter_verb::set_new, 3);
    EXPECT_EQ(latch(counter_verb::erase).rings, 1);
    EXPECT_EQ(latch(counter_verb::erase).rings, 0);
}

TEST_F(CounterTable, ARequestThatComesAgainIsAnsweredTheSameAndDoesNothing) {
    const counter_change add{"n", next(), counter_kind::semaphore, counter_verb::add, 2};
    EXPECT_EQ(table.change(add, remembered).what.value, 2);
    permits(counter_verb::add, 5);
    const change_verdict again = table.change(add, remembered);
    EXPECT_EQ(again.what.value, 2);
    EXPECT_TRUE(again.what.done);
    EXPECT_EQ(again.rings, 0);
    const counter_ask want = wants(3);
    EXPECT_EQ(look(want), verdict::granted);
    EXPECT_EQ(look(want), verdict::granted);
    EXPECT_EQ(value(), 4);
}

TEST_F(CounterTable, TheSameNumberOfAnotherClientOrCounterIsAnotherRequest) {
    const owner_id one = next();
    owner_id other = one;
    other.client = {'b'};
    table.change({"n", one, counter_kind::semaphore, counter_verb::add, 1}, remembered);
    table.change({"n", other, counter_kind::semaphore, counter_verb::add, 1}, remembered);
    table.change({"m", one, counter_kind::semaphore, counter_verb::add, 1}, remembered);
    EXPECT_EQ(value(), 2);
    EXPECT_EQ(table.value("m"), 1);
}

TEST_F(CounterTable, WhatWasTakenIsGivenBackOnce) {
    permits(counter_verb::add, 5);
    const counter_ask want = wants(3);
    look(want);
    const change_verdict back = table.take_back(want, remembered);
    EXPECT_EQ(back.what.value, 5);
    EXPECT_EQ(back.rings, 5);
    EXPECT_EQ(table.take_back(want, remembered).rings, 0);
    EXPECT_EQ(value(), 5);
    EXPECT_EQ(look(want), verdict::busy) << "a look that was late";
    EXPECT_EQ(value(), 5);
}

TEST_F(CounterTable, ALookThatComesAfterItWasTakenBackTakesNothing) {
    permits(counter_verb::add, 5);
    const counter_ask want = wants(3);
    EXPECT_FALSE(table.take_back(want, remembered).what.done);
    EXPECT_EQ(look(want), verdict::busy);
    EXPECT_EQ(value(), 5);
}

TEST_F(CounterTable, NothingIsGivenBackToADeadSemaphore) {
    permits(counter_verb::add, 5);
    const counter_ask want = wants(3);
    look(want);
    permits(counter_verb::erase);
    table.take_back(want, remembered);
    EXPECT_FALSE(value());
}

TEST_F(CounterTable, BusyIsNotRemembered) {
    const counter_ask want = wants(1);
    EXPECT_EQ(look(want), verdict::busy);
    permits(counter_verb::add, 1);
    EXPECT_EQ(look(want), verdict::granted);
}

TEST_F(CounterTable, RequestsAreForgottenAfterTheirTime) {
    const counter_change add{"n", next(), counter_kind::semaphore, counter_verb::add, 2};
    table.change(add, remembered);
    now += remembered - 1ms;
    EXPECT_EQ(table.change(add, remembered).what.value, 2);
    EXPECT_EQ(table.requests_remembered(), 1u);
    now += 1ms;
    permits(counter_verb::add, 1);
    EXPECT_EQ(table.requests_remembered(), 1u) << "of the last one only";
}

TEST_F(CounterTable, ThereIsABoundToWhatIsRemembered) {
    const counter_change first{"n", next(), counter_kind::semaphore, counter_verb::add, 1};
    table.change(first, remembered);
    for (std::size_t i = 1; i < request_memory::requests_max; ++i)
        permits(counter_verb::add, 1);
    EXPECT_EQ(table.change(first, remembered).what.value, 1) << "it is the oldest, and known";
    for (int i = 0; i < 3; ++i)
        permits(counter_verb::add, 1);
    EXPECT_EQ(table.requests_remembered(), request_memory::requests_max);
}

// Network faults of requests about counters. Each request counts once in spite of them.

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
        EXPECT_EQ(counter(w.there, "n"), 2);
        const counter_answer said = co_await w.counters(w.alice).change(add);
        EXPECT_TRUE(said.done);
        EXPECT_EQ(said.value, 2);
        EXPECT_EQ(counter(w.there, "n"), 2);
    }(*this));
}

TEST_F(MemoryCounters, AChangeThatIsCarriedOutAgainCountsOnce) {
    fates = {{.executed_again = 1s}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const counter_answer said = co_await w.counters(w.alice).change(w.adds(2));
        EXPECT_EQ(said.value, 2);
        co_await w.sleep_for(2s);
        EXPECT_EQ(counter(w.there, "n"), 2);
    }(*this));
}

TEST_F(MemoryCounters, AChangeThatComesLateDoesNothing) {
    fates = {{.request_delay = 3s + 1ms}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.failure_of_change(w.adds(2)), errc::outcome_unknown);
        co_await w.sleep_for(1s);
        EXPECT_FALSE(counter(w.there, "n"));
    }(*this));
}

TEST_F(MemoryCounters, ALookWhoseAnswerWasLostHasTakenOnce) {
    add_to_counter(there, "n", 3);
    fates = {{.answer_lost = true}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto spot = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::outcome_unknown);
        EXPECT_TRUE(spot->uncertain());
        EXPECT_TRUE(spot->must_leave());
        const answer said = co_await spot->look();
        EXPECT_TRUE(said.granted);
        EXPECT_EQ(counter(w.there, "n"), 1);
    }(*this));
}

TEST_F(MemoryCounters, AnUncertainLookIsGivenBackAndTakesNothingLater) {
    add_to_counter(there, "n", 3);
    fates = {{.answer_lost = true}, {}, {.request_delay = 2s, .cut_off = 1s}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto first = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*first), errc::outcome_unknown);
        EXPECT_EQ(counter(w.there, "n"), 1);
        co_await first->leave();
        EXPECT_EQ(counter(w.there, "n"), 3);
        const auto second = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*second), errc::outcome_unknown);
        co_await second->leave();
        co_await w.sleep_for(2s);
        EXPECT_EQ(counter(w.there, "n"), 3) << "the look came after it was left";
    }(*this));
}

TEST_F(MemoryCounters, ARefusedLookLeavesNothing) {
    add_to_counter(there, "n", 3);
    fates = {{.refused = true}, {.denied = true}};
    play([](MemoryCounters& w) -> asio::awaitable<void> {
        const auto spot = w.wants(w.alice, 2);
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::unreachable);
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(co_await w.failure_of_look(*spot), errc::refused);
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(counter(w.there, "n"), 3);
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
        EXPECT_EQ(listener_count(w.there), 2u);
        add_to_counter(w.there, "n", 1);
        co_await w.bob.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 0s) << "Bob was rung";
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s) << "Alice was not";
        add_to_counter(w.there, "n", 1);
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
        count_down(w.there, "n", 2);
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
    add_to_counter(there, "stock", 1);
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
        EXPECT_EQ(primary_state(w.there)->requests_remembered(), 1u);
        w.there.restart_empty();
        EXPECT_FALSE(counter(w.there, "n"));
        EXPECT_EQ(primary_state(w.there)->requests_remembered(), 0u);
        add_to_counter(w.there, "n", 1);
        EXPECT_TRUE(w.there.evict("n"));
        const counter_state seen = co_await w.counters(w.alice).inspect("n", semaphore);
        EXPECT_FALSE(seen.exists);
    }(*this));
}

} // namespace
} // namespace holdfast::memory
