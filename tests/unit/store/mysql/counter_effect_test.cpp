// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/counter_effect.hpp"

#include <gtest/gtest.h>

namespace holdfast::mysql {
namespace {

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

} // namespace
} // namespace holdfast::mysql
