// SPDX-License-Identifier: Apache-2.0
// RedissonLockExpirationRenewalTest, and what else a hold goes through while time passes.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

class Renewal : public suite {};
HOLDFAST_ON_EACH_STORE_WITH(Renewal, lock_kind::spin, lock_kind::fenced, lock_kind::token);

constexpr duration lease_length = 10s;

TEST_P(Renewal, GoesOnAfterARestartThatForgotTheLock) {
    moving_client home{store(), {.lease_time = lease_length}};
    mutex lock{home.get(), "lock"};
    lock.lock();
    store().restart_empty();
    const error_code told = unlocked(lock);
    if (!store().leases_by_session() || told != errc::unreachable) { // it connects again just now
        EXPECT_EQ(told, errc::lease_lost);
    }
    for (int again = 0; again < 2; ++again) {
        lock.lock();
        if (!store().leases_by_session())
            home.pass_renewing(lock, lease_length, 6); // twice the lease
        EXPECT_FALSE(unlocked(lock));
    }
}

TEST_P(Renewal, OfAnEarlierHoldDoesNotDisturbALaterOne) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {.lease_time = lease_length}};
    recursive_mutex a{home.get(), "lock"};
    a.lock();
    a.lock();
    a.unlock();
    a.unlock();
    mutex b{home.get(), "lock"};
    b.lock();
    home.pass_renewing(b, lease_length, 30); // ten leases
    EXPECT_FALSE(unlocked(b));
}

TEST_P(Renewal, AForcedUnlockReachesTheHolder) {
    moving_client home{store(), {.lease_time = lease_length}};
    client operators = make_client();
    mutex lock{home.get(), "lock"};
    lease held = lock.async_lock(asio::use_future).get();
    EXPECT_TRUE(mutex(operators, "lock").force_unlock());
    if (!store().leases_by_session()) // whose clients are told at once
        home.pass(lease_length / 3);
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.owns_lock());
}

TEST_P(Renewal, AnEvictedLockIsNoticedAlsoWhenItsLeaseIsFixed) {
    moving_client home{store(), {}};
    mutex lock{home.get(), "lock"};
    lease held = lock.async_lock(lease_time{lease_length}, asio::use_future).get();
    store().evict("lock");
    if (!store().leases_by_session()) // whose clients are told at once
        home.pass(lease_length / 3);
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
}

TEST_P(Renewal, AnExplicitLeaseEndsByItself) {
    moving_client home{store(), {}};
    mutex lock{home.get(), "lock"};
    lease held = lock.async_lock(lease_time{lease_length}, asio::use_future).get();
    home.pass(lease_length + 1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    if (store().leases_by_session()) { // its own client deletes it, soon
        EXPECT_TRUE(support::eventually([&] { return !lock.is_locked(); }));
    }
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(Renewal, ExtendingLengthensAndNeverShortens) {
    client home = make_client();
    mutex lock{home, "lock"};
    lease held = lock.async_lock(lease_time{5s}, asio::use_future).get();
    held.extend(lease_time{1min});
    if (!store().leases_by_session()) {
        EXPECT_GT(lock.remaining_lease().value(), 55s);
        EXPECT_GT(held.remaining(), 55s);
    }
    const duration before = held.remaining();
    held.extend(lease_time{1s});
    EXPECT_GT(held.remaining(), before / 2);
    if (!store().leases_by_session()) {
        EXPECT_GT(lock.remaining_lease().value(), 50s);
    }
    store().evict("lock");
    EXPECT_THROW(held.extend(lease_time{1min}), boost::system::system_error);
    EXPECT_FALSE(held.owns_lock());
}

} // namespace
} // namespace holdfast::conformance
