// SPDX-License-Identifier: Apache-2.0
// Released permits go to who waits in the same client without a word to the store: all of them, or
// none, so that a release that fails has done nothing.
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>

namespace holdfast::sync {
namespace {

struct PassOn : on_stage {
    actor& alice = enter({.hand_off = {.times_max = 1000, .within = 1h}});
    counting_semaphore seats{alice, "seats"};

    /// All three are in somebody's hands.
    void SetUp() override {
        said<bool> made;
        said<> taken;
        seats.async_try_set_permits(3, made.handler());
        seats.async_acquire(3, taken.handler());
        settle();
        ASSERT_TRUE(taken.well());
    }
    said<> waiting_for(std::int64_t permits) {
        said<> got;
        seats.async_acquire(permits, got.handler());
        settle();
        return got;
    }
    said<> released(std::int64_t permits) {
        said<> done;
        seats.async_release(permits, done.handler());
        settle();
        return done;
    }
    std::optional<std::int64_t> left() const { return server.counter("seats"); }
};

TEST_F(PassOn, WhatIsReleasedGoesToAllWhoWantJustThat) {
    const said<> two = waiting_for(2), one = waiting_for(1), more = waiting_for(1);
    EXPECT_TRUE(released(3).well());
    EXPECT_TRUE(two.well());
    EXPECT_TRUE(one.well());
    EXPECT_FALSE(more.done());
    EXPECT_EQ(alice.count(verb::change), 1u) << "but for the one that made it";
    EXPECT_EQ(left(), 0);
    (void)released(1);
    EXPECT_TRUE(more.well());
}

TEST_F(PassOn, MoreThanTheyWantGoesToTheStore) {
    const said<> two = waiting_for(2);
    EXPECT_TRUE(released(3).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_EQ(left(), 1);
}

TEST_F(PassOn, WhoWantsLessDoesNotOvertake) {
    const said<> two = waiting_for(2), one = waiting_for(1);
    EXPECT_TRUE(released(1).well());
    EXPECT_FALSE(two.done());
    EXPECT_FALSE(one.done());
    EXPECT_EQ(left(), 1);
    EXPECT_TRUE(released(2).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_TRUE(one.well());
}

TEST_F(PassOn, AReleaseThatFailsHasPassedNothing) {
    const said<> two = waiting_for(2);
    alice.planned = {{verb::change, {.overloaded = true}}};
    EXPECT_TRUE(released(3).failed(errc::overloaded));
    run_for(10ms);
    EXPECT_FALSE(two.done()) << "and who released was told that nothing was done";
    EXPECT_TRUE(released(3).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_EQ(left(), 1);
}

} // namespace
} // namespace holdfast::sync
