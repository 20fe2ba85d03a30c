// SPDX-License-Identifier: Apache-2.0
// How long a holder may trust its lease, and what a renewal changes and does not change.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
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

// RedissonLockExpirationRenewalTest, and what else a hold goes through while time passes.

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

// The optimizations of the most common calls do not change their meaning: calls on the caller's own
// thread, blocking connections, hand-off inside a client, and releases without waiting for the
// reply.

class Hurry : public suite {
protected:
    /// In two steps, so that two who do it at once lose a count.
    static void count(mutex& lock, int rounds, std::atomic<int>& counter) {
        for (int i = 0; i < rounds; ++i) {
            lock.lock();
            const int seen = counter.load(std::memory_order_relaxed);
            counter.store(seen + 1, std::memory_order_relaxed);
            lock.unlock();
        }
    }

    /// Returns when all have done `work(i)`.
    template <typename Work>
    static void in_threads(int threads, Work work) {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back(work, i);
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Hurry, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Hurry, ThreadsOfTwoClientsThatHandOnExcludeEachOther) {
    client home = make_client(), other = make_client();
    mutex first{home, "lock"}, second{other, "lock"};
    std::atomic<int> counted = 0;
    in_threads(8, [&](int i) { count(i % 2 == 0 ? first : second, 25, counted); });
    EXPECT_EQ(counted, 200);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Hurry, ManyThreadsTakeManyLocksOverAndOver) {
    client home = make_client();
    std::atomic<int> done = 0;
    in_threads(24, [&](int i) { // more than there are blocking connections
        mutex mine{home, "lock" + std::to_string(i)};
        std::atomic<int> counted = 0;
        count(mine, 20, counted);
        done += counted;
    });
    EXPECT_EQ(done, 480);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Hurry, AHandedOnLockIsOneHoldToTheStore) {
    HOLDFAST_NEEDS(counts_requests);
    client home = make_client({.hand_off = {100, 10min}});
    mutex lock{home, "lock"}, beside{home, "beside"};
    lock.lock();
    std::vector<std::future<lease>> waiting;
    for (int i = 0; i < 4; ++i)
        waiting.push_back(lock.async_lock(asio::use_future));
    // This is begun after those.
    support::soon(beside.async_lock(asio::use_future)).unlock();
    const std::size_t requests = requests_during([&] {
        lock.unlock();
        for (std::future<lease>& each : waiting)
            support::soon(std::move(each)).unlock();
    });
    // Nobody queued when the first of the fenced locks was taken, so it had one token only.
    EXPECT_EQ(requests, are(lock_kind::fenced) ? 3u : 1u) << "the last one's release";
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Hurry, WaitersOfAnotherClientAreServedBetweenTheBudgets) {
    if (are(lock_kind::spin))
        GTEST_SKIP() << "nobody tells that others wait, and who polls more often wins more often";
    client home = make_client({.hand_off = {1'000'000, 5ms}});
    client other = make_client();
    mutex lock{home, "lock"}, his{other, "lock"};
    std::atomic<bool> enough = false;
    in_threads(4, [&](int i) {
        if (i == 0) {
            EXPECT_TRUE(his.try_lock_for(30s));
            if (his.is_held_by_this_thread())
                his.unlock();
            enough = true;
        }
        while (!enough) {
            lock.lock();
            lock.unlock();
        }
    });
}

TEST_P(Hurry, ADeferredReleaseIsSoonThere) {
    const auto subscriber = std::make_shared<support::recorder>();
    client home = make_client({.observer = subscriber}), other = make_client();
    mutex lock{home, "lock", deferred_release};
    mutex same{other, "lock"};
    for (int i = 0; i < 50; ++i) {
        lock.lock();
        lock.unlock();
    }
    EXPECT_TRUE(support::eventually([&] { return store().held() == 0; }));
    EXPECT_TRUE(same.try_lock());
    same.unlock();
    EXPECT_TRUE(
        support::eventually([&] { return subscriber->of(event_kind::released).size() == 50; }));
}

TEST_P(Hurry, ADeferredReleaseStillTellsOfALossThatIsKnown) {
    client home = make_client();
    mutex lock{home, "lock", deferred_release};
    lock.lock();
    ASSERT_TRUE(lock.force_unlock());
    error_code ec;
    lock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
}

TEST_P(Hurry, CloseWaitsForDeferredReleases) {
    client home = make_client();
    std::vector<std::unique_ptr<mutex>> locks;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "lock" + std::to_string(i);
        locks.push_back(std::make_unique<mutex>(home, name, deferred_release));
        locks.back()->lock();
    }
    for (const auto& each : locks)
        each->unlock();
    home.close();
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Hurry, ARecursiveLockMayDeferToo) {
    client home = make_client();
    recursive_mutex lock{home, "lock", {.lease = lease_time{10s}, .deferred = true}};
    lock.lock();
    lock.lock();
    lock.unlock();
    EXPECT_EQ(store().held(), 1u);
    lock.unlock();
    EXPECT_TRUE(support::eventually([&] { return store().held() == 0; }));
}

} // namespace
} // namespace holdfast::conformance
