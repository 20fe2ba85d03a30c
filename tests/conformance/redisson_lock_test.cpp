// SPDX-License-Identifier: Apache-2.0
// RedissonLockTest, played by us: README.md says which test is which.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <csignal>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace holdfast::conformance {
namespace {

class RedissonLock : public suite {};
HOLDFAST_ON_EACH_STORE_WITH(RedissonLock, lock_kind::spin, lock_kind::fenced, lock_kind::token);

/// What another thread sees or does, done before this returns.
template <typename Action>
auto elsewhere(Action action) {
    return std::async(std::launch::async, action).get();
}

TEST_P(RedissonLock, TimedTryFailsOnAStoppedServer) {
    client home = make_client({.unavailable_patience = 50ms});
    mutex lock{home, "myLock"};
    store().stop_answering();
    EXPECT_THROW((void)lock.try_lock_for(10s), boost::system::system_error);
}

TEST_P(RedissonLock, RemainingLeaseSurvivesPartialUnlocks) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client();
    recursive_mutex lock{home, "test-lock"};
    for (int i = 0; i < 3; ++i)
        lock.lock(lease_time{10s});
    lock.unlock();
    lock.unlock();
    EXPECT_GT(lock.remaining_lease().value(), 9s);
    EXPECT_LE(lock.remaining_lease().value(), 10s);
    EXPECT_FALSE(unlocked(lock));
}

TEST_P(RedissonLock, TryWaitsItsPatience) {
    client home = make_client(), other = make_client();
    mutex held{home, "lock"}, wanted{other, "lock"};
    held.lock();
    const time_point begin = boot_clock::now();
    EXPECT_FALSE(wanted.try_lock_for(300ms));
    EXPECT_GE(boot_clock::now() - begin, 299ms);
    EXPECT_FALSE(unlocked(held));
    EXPECT_TRUE(wanted.try_lock());
    EXPECT_FALSE(unlocked(wanted));
}

TEST_P(RedissonLock, ASignalDoesNotEndAWait) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    sigaction(SIGUSR1, &nothing, nullptr);
    std::atomic<bool> got = false;
    std::thread waiter{[&] {
        lock.lock();
        got = true;
        EXPECT_FALSE(unlocked(lock));
    }};
    ASSERT_TRUE(somebody_waits());
    for (int i = 0; i < 10; ++i)
        pthread_kill(waiter.native_handle(), SIGUSR1);
    EXPECT_FALSE(got);
    store().stranger_releases("lock");
    waiter.join();
    EXPECT_TRUE(got);
}

TEST_P(RedissonLock, ForceUnlockFreesForEverybody) {
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"}, elsewhere_lock{other, "lock"};
    lock.lock();
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_FALSE(lock.is_locked());
    EXPECT_FALSE(lock.force_unlock());
    EXPECT_TRUE(elsewhere_lock.try_lock());
    EXPECT_FALSE(unlocked(elsewhere_lock));
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
}

TEST_P(RedissonLock, AnExpiredHoldPassesOnAndItsUnlockIsTold) {
    client home = make_client(), other = make_client();
    mutex first{home, "lock"}, second{other, "lock"};
    first.lock(lease_time{2s});
    auto next = std::async(std::launch::async, [&] {
        second.lock();
        return unlocked(second);
    });
    ASSERT_TRUE(somebody_waits());
    store().pass(2s);
    EXPECT_FALSE(support::soon(std::move(next)));
    EXPECT_EQ(unlocked(first), errc::lease_lost);
}

TEST_P(RedissonLock, RemainingLeaseIsToldInAllStates) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock(lease_time{1h});
    EXPECT_GT(lock.remaining_lease().value(), 59min);
    EXPECT_LE(lock.remaining_lease().value(), 1h);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_EQ(lock.remaining_lease(), std::nullopt);
    lock.lock();
    EXPECT_GT(lock.remaining_lease().value(), 20s);
    EXPECT_LE(lock.remaining_lease().value(), 30s);
    EXPECT_FALSE(unlocked(lock));
}

TEST_P(RedissonLock, AClosedClientsLockEndsWithItsLease) {
    client other = make_client();
    mutex watched{other, "lock"};
    std::optional<client> home = make_client({.close_patience = 0ms});
    std::optional<mutex> lock{std::in_place, *home, "lock"};
    lock->lock();
    home.reset();
    EXPECT_TRUE(watched.is_locked());
    EXPECT_EQ(unlocked(*lock), errc::closed);
    store().pass(30s + 1ms);
    if (store().leases_by_session()) { // which ends in its own time
        EXPECT_TRUE(support::eventually([&] { return !watched.is_locked(); }));
    }
    EXPECT_FALSE(watched.is_locked());
}

TEST_P(RedissonLock, HoldCountFollowsNesting) {
    client home = make_client();
    recursive_mutex lock{home, "lock"};
    EXPECT_EQ(lock.hold_count(), 0u);
    lock.lock();
    EXPECT_EQ(lock.hold_count(), 1u);
    lock.unlock();
    EXPECT_EQ(lock.hold_count(), 0u);
    lock.lock();
    lock.lock();
    EXPECT_EQ(lock.hold_count(), 2u);
    lock.unlock();
    EXPECT_EQ(lock.hold_count(), 1u);
    lock.unlock();
    EXPECT_EQ(lock.hold_count(), 0u);
}

TEST_P(RedissonLock, WhoHoldsIsToldApartByThread) {
    client home = make_client();
    mutex lock{home, "lock"};
    EXPECT_FALSE(lock.is_held_by_this_thread());
    lock.lock();
    EXPECT_TRUE(lock.is_held_by_this_thread());
    EXPECT_FALSE(elsewhere([&] { return lock.is_held_by_this_thread(); }));
    lock.unlock();
    EXPECT_FALSE(lock.is_held_by_this_thread());
    EXPECT_FALSE(elsewhere([&] { return lock.is_held_by_this_thread(); }));
}

TEST_P(RedissonLock, IsLockedIsTrueForEveryThreadWhileHeld) {
    client home = make_client();
    mutex lock{home, "lock"};
    EXPECT_FALSE(lock.is_locked());
    lock.lock();
    EXPECT_TRUE(lock.is_locked());
    EXPECT_TRUE(elsewhere([&] { return lock.is_locked(); }));
    lock.unlock();
    EXPECT_FALSE(lock.is_locked());
    EXPECT_FALSE(elsewhere([&] { return lock.is_locked(); }));
}

TEST_P(RedissonLock, OnlyItsThreadUnlocks) {
    client home = make_client();
    mutex lock{home, "lock"};
    EXPECT_EQ(unlocked(lock), errc::not_owner);
    elsewhere([&] {
        lock.lock();
        return 0;
    });
    EXPECT_EQ(unlocked(lock), errc::not_owner);
    EXPECT_TRUE(lock.is_locked());
}

TEST_P(RedissonLock, ItLocksAndUnlocksAgain) {
    client home = make_client();
    mutex lock{home, "lock1"};
    for (int round = 0; round < 2; ++round) {
        lock.lock();
        EXPECT_FALSE(unlocked(lock));
    }
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonLock, ReentryNeedsAsManyUnlocks) {
    client home = make_client();
    recursive_mutex lock{home, "lock1"};
    EXPECT_TRUE(lock.try_lock());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
    lock.unlock();
    EXPECT_TRUE(elsewhere([&] { return lock.try_lock() && !unlocked(lock); }));
}

} // namespace
} // namespace holdfast::conformance
