// SPDX-License-Identifier: Apache-2.0
// What a holder may believe, and what its renewal does and does not do.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <vector>

namespace holdfast::conformance {
namespace {

class Belief : public suite {
protected:
    static lease taken(mutex& lock) { return support::soon(lock.async_lock(asio::use_future)); }
    static lease taken(mutex& lock, lease_time length) {
        return support::soon(lock.async_lock(length, asio::use_future));
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Belief, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Belief, TheHolderStopsBelievingBeforeTheStoreForgets) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    mutex lock{home.get(), "lock"};
    const lease held = taken(lock, lease_time{100s});
    EXPECT_LT(held.remaining(), lock.remaining_lease().value());
    home.pass(60s);
    EXPECT_LT(held.remaining(), lock.remaining_lease().value());
    EXPECT_TRUE(held.owns_lock());
    home.pass(39s + 200ms); // a margin of a hundredth is kept
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
}

TEST_P(Belief, RenewingExtendsAllHoldsInOneRequest) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {.lease_time = 30s}};
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i) {
        mutex lock{home.get(), "lock" + std::to_string(i)};
        held.push_back(taken(lock));
    }
    mutex last{home.get(), "lock49"};
    // The store may tell of a renewal whose answer has not come yet.
    const auto is_believed = [](const lease& each) { return each.remaining() > 25s; };
    std::size_t questions = 0;
    const std::size_t all = requests_during([&] {
        home.pass(10s + 1ms);
        EXPECT_TRUE(support::eventually([&] {
            ++questions;
            return last.remaining_lease().value() > 25s && std::ranges::all_of(held, is_believed);
        }));
    });
    EXPECT_EQ(all - questions, 1u);
}

TEST_P(Belief, AnUnreachableStoreDoesNotEndALease) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    const lease held = taken(lock);
    store().freeze();
    home.pass(15s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(held.lost().stop_requested());
    home.pass(5s);
    EXPECT_TRUE(support::eventually([&] { return held.in_danger().stop_requested(); }));
    EXPECT_TRUE(held.owns_lock());
    store().thaw();
    EXPECT_TRUE(support::eventually([&] {
        home.pass(1ms); // its time limits are measured on a clock that we move
        return held.remaining() > 20s;
    }));
    EXPECT_FALSE(held.in_danger().stop_requested());
}

TEST_P(Belief, TheEndOfTheTermEndsItWhateverTheStoreDoes) {
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    const lease held = taken(lock);
    store().freeze();
    home.pass(31s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    store().thaw();
}

TEST_P(Belief, NothingIsRenewedAfterItsRelease) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    taken(lock).unlock();
    EXPECT_EQ(requests_during([&] {
                  for (int i = 0; i < 6; ++i)
                      home.pass(10s);
                  (void)lock.is_locked();
              }),
              requests_during([&] { (void)lock.is_locked(); }));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Belief, ARenewalNeverMakesALockThatIsGone) {
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    const lease held = taken(lock);
    store().restart_empty();
    if (!store().leases_by_session()) // whose clients are told at once
        home.pass(10s + 1ms);
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Belief, ARenewalNeverTouchesSomebodyElsesHold) {
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    lease held = taken(lock);
    store().stranger_takes("lock", 1h);
    if (!store().leases_by_session()) // whose clients are told at once
        home.pass(10s + 1ms);
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    EXPECT_TRUE(lock.is_locked());
    if (!store().leases_by_session()) {
        EXPECT_GT(lock.remaining_lease().value(), 50min) << "the stranger's lease was changed";
    }
}

TEST_P(Belief, AServersClockThatJumpsForwardIsALossThatIsTold) {
    HOLDFAST_NEEDS(moves_its_clock);
    moving_client home{store(), {.lease_time = 30s}};
    client other = make_client();
    mutex lock{home.get(), "lock"}, next{other, "lock"};
    const lease held = taken(lock);
    store().pass(1h);
    EXPECT_TRUE(next.try_lock_for(support::far_too_long));
    home.pass(10s + 1ms);
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    next.unlock();
}

TEST_P(Belief, AServersClockThatJumpsBackDoesNotStopALock) {
    HOLDFAST_NEEDS(moves_its_clock);
    moving_client home{store(), {.lease_time = 30s}};
    mutex lock{home.get(), "lock"};
    const lease held = taken(lock);
    store().pass(-1h);
    home.pass(10s + 1ms);
    EXPECT_TRUE(held.owns_lock());
    client other = make_client();
    EXPECT_FALSE(mutex(other, "lock").try_lock());
    mutex shelf{home.get(), "shelf"};
    EXPECT_TRUE(shelf.try_lock());
    shelf.unlock();
}

} // namespace
} // namespace holdfast::conformance
