// SPDX-License-Identifier: Apache-2.0
// What a number under a name does, and that a request does it once.
#include "store/memory/counter_table.hpp"

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

TEST_F(CounterTable, TheSimulatorCanPlantForgetting) {
    const counter_change down{"n", next(), counter_kind::latch, counter_verb::count_down, 1};
    const counter_change add{"m", next(), counter_kind::semaphore, counter_verb::add, 1};
    latch(counter_verb::set_new, 5);
    table.count_down_twice();
    for (int i = 0; i < 2; ++i) {
        table.change(down, remembered);
        table.change(add, remembered);
    }
    EXPECT_EQ(value(), 3);
    EXPECT_EQ(table.value("m"), 1);
    table.forget_requests();
    table.change(add, remembered);
    EXPECT_EQ(table.value("m"), 2);
}

} // namespace
} // namespace holdfast::memory
