// SPDX-License-Identifier: Apache-2.0
#include "store/redis/request_slots.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

const lock_name seats{"seats"}, gate{"gate"};
const time_point now{duration{1'000'000}};

TEST(RequestSlots, ARequestKeepsItsSlotAndItsNumber) {
    request_slots all;
    const request_slot first = all.of(seats, 7, now), again = all.of(seats, 7, now);
    EXPECT_EQ(first.slot, again.slot);
    EXPECT_EQ(first.number, again.number);
    EXPECT_EQ(all.under_way(seats), 1U);
}

TEST(RequestSlots, EachAtTheSameTimeHasASlotOfItsOwn) {
    request_slots all;
    EXPECT_EQ(all.of(seats, 7, now).slot, 0);
    EXPECT_EQ(all.of(seats, 8, now).slot, 1);
    EXPECT_EQ(all.of(seats, 9, now).slot, 2);
    EXPECT_EQ(all.of(gate, 10, now).slot, 0) << "of another name";
}

TEST(RequestSlots, TheLowestThatIsFreeIsTaken) {
    request_slots all;
    for (std::uint64_t request = 0; request < 4; ++request)
        (void)all.of(seats, request, now);
    all.over(seats, 2);
    all.over(seats, 1);
    EXPECT_EQ(all.of(seats, 10, now).slot, 1);
    EXPECT_EQ(all.of(seats, 11, now).slot, 2);
    EXPECT_EQ(all.of(seats, 12, now).slot, 4);
}

// Else the server would take a new request for one that was given up.
TEST(RequestSlots, NumbersGrowInEverySlotWhateverTheRequestsAreCalled) {
    request_slots all;
    const request_slot first = all.of(seats, 900, now);
    all.over(seats, 900);
    const request_slot second = all.of(seats, 3, now);
    EXPECT_EQ(second.slot, first.slot);
    EXPECT_GT(second.number, first.number);
    all.over(seats, 3);
    EXPECT_GT(all.of(seats, 900, now).number, second.number) << "after the name was forgotten, too";
}

TEST(RequestSlots, OneThatMayComeAgainKeepsItsSlotUntilThen) {
    request_slots all;
    (void)all.of(seats, 1, now);
    all.keep(seats, 1, now + duration{100});
    EXPECT_EQ(all.of(seats, 2, now + duration{99}).slot, 1);
    all.over(seats, 2);
    EXPECT_EQ(all.of(seats, 3, now + duration{100}).slot, 0);
    EXPECT_EQ(all.under_way(seats), 1U);
}

TEST(RequestSlots, WhatIsNotKnownIsNobodysTrouble) {
    request_slots all;
    all.over(seats, 1);
    all.keep(seats, 1, now);
    (void)all.of(seats, 1, now);
    all.over(seats, 2);
    all.keep(seats, 2, now);
    EXPECT_EQ(all.under_way(seats), 1U);
    EXPECT_EQ(all.under_way(gate), 0U);
}

TEST(RequestSlots, MoreThanTheBoundAreRefusedUntilOneIsOver) {
    request_slots all;
    for (std::uint64_t request = 0; request < request_slots::of_one_name_max; ++request)
        (void)all.of(seats, request, now);
    try {
        (void)all.of(seats, 5000, now);
        FAIL() << "there is no slot for it";
    } catch (const boost::system::system_error& refused) {
        EXPECT_EQ(refused.code(), errc::overloaded);
        EXPECT_NE(std::string{refused.what()}.find("1024 requests"), std::string::npos);
    }
    (void)all.of(gate, 5000, now);
    all.over(seats, 17);
    EXPECT_EQ(all.of(seats, 5001, now).slot, 17);
}

} // namespace
} // namespace holdfast::redis
