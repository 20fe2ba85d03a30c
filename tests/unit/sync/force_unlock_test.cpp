// SPDX-License-Identifier: Apache-2.0
// force_unlock, and the other questions to the store.
#include "unit/sync/stage.hpp"

namespace holdfast::sync {
namespace {

class ForceUnlock : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    actor& bob = enter({.poll_bound = 1h}, 1s);
    mutex hers{alice, "stock"}, his{bob, "stock"};
    said<bool> forced;
};

TEST_F(ForceUnlock, FreesALockForEverybody) {
    const lease mine = taken(hers);
    his.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.value());
    EXPECT_TRUE(taken(his).owns_lock());
}

TEST_F(ForceUnlock, OfAFreeLockIsFalse) {
    his.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.well());
    EXPECT_FALSE(forced.value());
}

TEST_F(ForceUnlock, WakesWhoWaits) {
    server.occupy("stock", 24h);
    said<lease> waits;
    his.async_lock(waits.handler());
    run_for(1s);
    hers.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.value());
    EXPECT_TRUE(waits.well());
}

TEST_F(ForceUnlock, ThroughItsOwnClientEndsTheHoldAtOnceAndServesTheNext) {
    const lease mine = taken(hers);
    said<lease> next;
    hers.async_lock(next.handler());
    settle();
    hers.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(mine.lost().stop_requested());
    EXPECT_FALSE(mine.owns_lock());
    EXPECT_TRUE(next.well());
    EXPECT_TRUE(next.value().owns_lock());
}

TEST_F(ForceUnlock, ThroughAnotherClientReachesTheHolderWithItsNextRenewal) {
    const lease mine = taken(hers);
    run_for(3s);
    his.async_force_unlock(forced.handler());
    run_for(6s);
    EXPECT_TRUE(mine.owns_lock());
    run_for(1s);
    EXPECT_FALSE(mine.owns_lock());
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::refused);
}

TEST_F(ForceUnlock, WhoseAnswerComesLateLeavesANewerHoldAlone) {
    lease mine = taken(hers);
    alice.planned.emplace_back(verb::force, fate{.answer_delay = 100ms});
    hers.async_force_unlock(forced.handler());
    settle();
    mine.async_unlock(said{}.handler());
    settle();
    const lease newer = taken(hers);
    run_for(100ms);
    EXPECT_TRUE(forced.value());
    EXPECT_TRUE(newer.owns_lock());
}

TEST_F(ForceUnlock, ThatCannotReachTheStoreSaysSo) {
    const lease mine = taken(hers);
    alice.always.refused = true;
    hers.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.failed(errc::unreachable));
    EXPECT_TRUE(mine.owns_lock());
}

TEST_F(ForceUnlock, QuestionsAreAnsweredByTheStore) {
    said<bool> before, during;
    said<std::optional<duration>> none, some, endless;
    his.async_is_locked(before.handler());
    his.async_remaining_lease(none.handler());
    settle();
    const lease mine = taken(hers, lease_time{20s});
    run_for(5s);
    his.async_is_locked(during.handler());
    his.async_remaining_lease(some.handler());
    settle();
    server.occupy("stock", duration::max());
    his.async_remaining_lease(endless.handler());
    settle();
    EXPECT_FALSE(before.value());
    EXPECT_TRUE(during.value());
    EXPECT_EQ(none.value(), std::nullopt);
    EXPECT_EQ(some.value(), 15s);
    EXPECT_EQ(endless.value(), duration::max());
    server.evict("stock");
}

} // namespace
} // namespace holdfast::sync
