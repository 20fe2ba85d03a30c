// SPDX-License-Identifier: Apache-2.0
// The list of holds and waits that a client reports to its store.
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/leased_semaphore.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

class Activity : public on_stage {
protected:
    actor& alice = enter();
    client_activity listed(duration age = 1s, std::size_t limit = 100) {
        return alice.inside.lock()->activity(clock.now() - age, {limit, 512});
    }
};

TEST_F(Activity, OfAnUnusedClientIsIdle) {
    const client_activity none = listed(0ms);
    EXPECT_TRUE(none.idle);
    EXPECT_THAT(none.holds, IsEmpty());
    EXPECT_THAT(none.waits, IsEmpty());
}

TEST_F(Activity, ListsAHoldWhenItIsOldEnoughUntilItsRelease) {
    mutex stock{alice, "stock"};
    const time_point before = clock.now();
    lease held = taken(stock);
    run_for(999ms);
    EXPECT_THAT(listed().holds, IsEmpty());
    EXPECT_FALSE(listed().idle);
    run_for(1s);
    const client_activity with_hold = listed();
    ASSERT_EQ(with_hold.holds.size(), 1u);
    EXPECT_EQ(with_hold.holds_total, 1u);
    EXPECT_EQ(with_hold.holds[0].name, "stock");
    EXPECT_EQ(with_hold.holds[0].kind, lock_kind::plain);
    EXPECT_GE(with_hold.holds[0].since, before);
    EXPECT_TRUE(with_hold.holds[0].renewed);
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_THAT(listed().holds, IsEmpty());
    EXPECT_TRUE(listed().idle);
}

TEST_F(Activity, ListsACallThatWaitsForAnotherClientOrBehindACallOfItsOwn) {
    actor& bob = enter();
    mutex of_bob{bob, "stock"}, stock{alice, "stock"};
    lease held = taken(of_bob);
    said<lease> first;
    said<std::optional<lease>> second;
    stock.async_lock(first.handler());
    run_for(500ms);
    stock.async_try_lock_for(1h, second.handler());
    run_for(1100ms);
    const client_activity waiting = listed();
    EXPECT_THAT(waiting.holds, IsEmpty());
    ASSERT_EQ(waiting.waits.size(), 2u);
    EXPECT_EQ(waiting.waits_total, 2u);
    EXPECT_EQ(waiting.waits[0].name, "stock");
    EXPECT_EQ(waiting.waits[0].give_up_at, time_point::max());
    EXPECT_LT(waiting.waits[0].since, waiting.waits[1].since);
    EXPECT_LT(waiting.waits[1].give_up_at, time_point::max());
    held.async_unlock(said{}.handler());
}

TEST_F(Activity, ListsNoMoreThanTheOldestAndCountsAll) {
    std::list<mutex> locks;
    std::vector<lease> held;
    for (const char* name : {"c", "a", "b"}) {
        held.push_back(taken(locks.emplace_back(alice, name)));
        run_for(1s);
    }
    const client_activity all = listed(0ms, 2);
    EXPECT_THAT(all.holds,
                ElementsAre(Field(&reported_hold::name, "c"), Field(&reported_hold::name, "a")));
    EXPECT_EQ(all.holds_total, 3u);
}

TEST_F(Activity, LocksWithLongNamesAreCountedAndTakeNoPlaceInTheList) {
    mutex long_name{alice, std::string(513, 'a')}, other{alice, std::string(512, 'b')};
    lease first = taken(long_name);
    run_for(1s);
    lease second = taken(other);
    const client_activity found = listed(0ms, 1);
    EXPECT_EQ(found.holds_total, 2u);
    EXPECT_THAT(found.holds, ElementsAre(Field(&reported_hold::name, std::string(512, 'b'))));
}

TEST_F(Activity, DoesNotListAHeldPermit) {
    leased_semaphore seats{alice, "seats"};
    seats.async_set_permits(1, said{}.handler());
    settle();
    said<lease> got;
    seats.async_acquire(1, got.handler());
    run_for(2s);
    EXPECT_FALSE(listed().idle);
    EXPECT_EQ(listed().holds_total, 0u);
    EXPECT_THAT(listed().holds, IsEmpty());
}

TEST_F(Activity, DoesNotListACallThatWaitsForACounter) {
    counting_semaphore seats{alice, "seats"};
    said<> got;
    seats.async_acquire(1, got.handler());
    run_for(2s);
    EXPECT_THAT(listed().waits, IsEmpty());
}

} // namespace
} // namespace holdfast::sync
