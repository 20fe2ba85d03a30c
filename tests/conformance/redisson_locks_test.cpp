// SPDX-License-Identifier: Apache-2.0
// Redisson's RedissonLockTest, translated to holdfast. README.md lists the corresponding tests.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <csignal>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace holdfast::conformance {
namespace {

class RedissonLock : public suite {};
HOLDFAST_ON_EACH_STORE_WITH(RedissonLock, lock_kind::spin, lock_kind::fenced, lock_kind::token);

/// Runs a function in another thread and waits for its end.
template <typename Action>
auto elsewhere(Action action) {
    return std::async(std::launch::async, action).get();
}

TEST_P(RedissonLock, TimedTryFailsOnAStoppedServer) {
    client home = make_client({.unavailable_timeout = 50ms});
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

TEST_P(RedissonLock, TryWaitsItsTimeout) {
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
    std::optional<client> home = make_client({.close_timeout = 0ms});
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

// The tests of RedissonLockTest that need a crowd.

class RedissonLockCrowd : public suite {
protected:
    /// Runs `work(i)` in so many threads at once.
    template <typename Work>
    static void crowd(int threads, Work work) {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([work, i] { work(i); });
    }
};
HOLDFAST_ON_EACH_STORE_WITH(RedissonLockCrowd, lock_kind::spin, lock_kind::fenced,
                            lock_kind::token);

TEST_P(RedissonLockCrowd, ManyJobsOnFewNamesLeaveNoSubscription) {
    {
        client home = make_client();
        const int jobs = scaled(10, 157); // of each of 32 threads
        crowd(32, [&](int thread) {
            for (int job = 0; job < jobs; ++job) {
                mutex lock{home, "lock-" + std::to_string((thread + job) % 5)};
                const std::scoped_lock held{lock};
            }
        });
    }
    EXPECT_TRUE(support::eventually([&] { return store().listeners() == 0; }));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonLockCrowd, TimedTriesOnTwoNamesAllSucceed) {
    client home = make_client();
    std::atomic<int> granted = 0;
    crowd(4, [&](int thread) {
        mutex lock{home, thread % 2 ? "one" : "two"};
        for (int i = 0; i < 10; ++i)
            if (lock.try_lock_for(support::far_too_long)) {
                ++granted;
                lock.unlock();
            }
    });
    EXPECT_EQ(granted, 40);
}

TEST_P(RedissonLockCrowd, ACancelledTryIsNotRenewed) {
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"}, watched{other, "lock"};
    store().stranger_takes("lock", 30s);
    std::stop_source cancel;
    auto waiting = std::async(std::launch::async, [&] {
        try {
            return lock.try_lock_for(5min, cancel.get_token());
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), asio::error::operation_aborted);
            return false;
        }
    });
    ASSERT_TRUE(somebody_waits());
    cancel.request_stop();
    EXPECT_FALSE(support::soon(std::move(waiting)));
    store().stranger_releases("lock");
    EXPECT_TRUE(support::eventually([&] { return !watched.is_locked(); }));
    store().pass(45s);
    EXPECT_FALSE(watched.is_locked());
}

TEST_P(RedissonLockCrowd, WhoeverUnlocksHeldIt) {
    client home = make_client();
    mutex lock{home, "lock"};
    const int rounds = scaled(60, 10'000);
    std::atomic<int> lost = 0;
    crowd(16, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            if (!lock.try_lock())
                continue;
            error_code ec;
            lock.unlock(ec);
            lost += ec ? 1 : 0;
        }
    });
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonLockCrowd, ThreadsOfOneClientCountExactly) {
    client home = make_client();
    int counter = 0;
    crowd(15, [&](int) {
        mutex lock{home, "testConcurrency_SingleInstance"};
        const std::scoped_lock held{lock};
        ++counter;
    });
    EXPECT_EQ(counter, 15);
}

TEST_P(RedissonLockCrowd, ClientsLoopingCountExactly) {
    const int clients = scaled(8, 16), rounds = scaled(25, 100);
    int counter = 0;
    crowd(clients, [&](int) {
        client home = make_client();
        mutex lock{home, "testConcurrency_MultiInstance1"};
        for (int i = 0; i < rounds; ++i) {
            const std::scoped_lock held{lock};
            ++counter;
        }
    });
    EXPECT_EQ(counter, clients * rounds);
}

TEST_P(RedissonLockCrowd, ManyClientsEachCountOnce) {
    const int clients = scaled(20, 100);
    int counter = 0;
    crowd(clients, [&](int) {
        client home = make_client();
        mutex lock{home, "testConcurrency_MultiInstance2"};
        const std::scoped_lock held{lock};
        ++counter;
    });
    EXPECT_EQ(counter, clients);
}

// RedissonNonReentrantLockTest: it is what a `mutex` is.

class RedissonNonReentrantLock : public suite {
protected:
    /// Every verb that would lock it again, by the thread that holds it.
    static void expect_refused(basic_mutex& lock) {
        const auto code_of = [](auto verb) {
            try {
                verb();
            } catch (const boost::system::system_error& why) {
                return why.code();
            }
            return error_code{};
        };
        EXPECT_EQ(code_of([&] { lock.lock(); }), errc::already_held);
        EXPECT_EQ(code_of([&] { (void)lock.try_lock(); }), errc::already_held);
        EXPECT_EQ(code_of([&] { (void)lock.try_lock_for(100ms); }), errc::already_held);
    }
};
HOLDFAST_ON_EACH_STORE_WITH(RedissonNonReentrantLock, lock_kind::spin, lock_kind::fenced,
                            lock_kind::token);

TEST_P(RedissonNonReentrantLock, AContenderWaitsForTheRelease) {
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock();
    auto contender = std::async(std::launch::async, [&] {
        lock.lock();
        return unlocked(lock);
    });
    EXPECT_EQ(contender.wait_for(300ms), std::future_status::timeout);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(support::soon(std::move(contender)));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonNonReentrantLock, ItsThreadIsRefusedAndHoldsItStill) {
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock();
    EXPECT_EQ(requests_during([&] { expect_refused(lock); }), 0u);
    EXPECT_EQ(lock.hold_count(), 1u);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonNonReentrantLock, ItsThreadIsRefusedByAnotherObjectToo) {
    client home = make_client();
    mutex lock{home, "lock"}, same{home, "lock"};
    lock.lock();
    expect_refused(same);
    EXPECT_EQ(same.hold_count(), 1u);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(same.is_locked());
}

// RedissonFairLockTest, played by us: README.md says which test is which.

class RedissonFairLock : public suite {
protected:
    /// Waits until so many stand in the queue.
    bool stand_in_queue(std::size_t count, const std::string& name = "lock") {
        return support::eventually([&] { return store().waiting(name) == count; });
    }

    /// Runs `work(i)` in so many threads, and begins each when the one before stands in the queue.
    template <typename Work>
    std::deque<std::jthread> one_after_the_other(int threads, Work work) {
        std::deque<std::jthread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([work, i] { work(i); });
            EXPECT_TRUE(stand_in_queue(all.size()));
        }
        return all;
    }

    /// Adds a thread to the list of the threads that had the lock.
    void note(int who) {
        const std::scoped_lock guard{mutex_};
        order_.push_back(who);
    }
    /// Waits until so many have: a thread may be slow to tell.
    bool have_noted(std::size_t count) {
        return support::eventually([&] {
            const std::scoped_lock guard{mutex_};
            return order_.size() == count;
        });
    }
    std::vector<int> order_;

private:
    std::mutex mutex_;
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonFairLock, lock_kind::fair);

constexpr fair_options counted{.again = recursion::counted};

std::vector<int> first(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i)
        all.push_back(i);
    return all;
}

TEST_P(RedissonFairLock, WhoseLeasesEndAreFollowedInOrder) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    store().stranger_takes("lock", 10s);
    auto all = one_after_the_other(8, [&](int i) {
        fair_mutex lock{i % 2 == 0 ? home : other, "lock"};
        EXPECT_TRUE(lock.try_lock_for(support::far_too_long, lease_time{1s}));
        note(i);
    });
    store().pass(9s);
    for (std::size_t left = 8; left > 0; --left) {
        EXPECT_TRUE(stand_in_queue(left));
        store().pass(1s);
        EXPECT_TRUE(stand_in_queue(left - 1));
        EXPECT_TRUE(have_noted(9 - left));
    }
    all.clear();
    EXPECT_EQ(order_, first(8));
}

TEST_P(RedissonFairLock, ManyWaitersAllHaveIt) {
    client home = make_client();
    {
        std::deque<std::jthread> all;
        for (int i = 0; i < scaled(40, 500); ++i)
            all.emplace_back([&] {
                fair_mutex lock{home, "lock"};
                const std::scoped_lock held{lock};
            });
    }
    EXPECT_TRUE(support::eventually([&] { return store().listeners() == 0; }));
    EXPECT_EQ(store().held() + store().waiting("lock"), 0u);
}

TEST_P(RedissonFairLock, LosersOfASingleTryAreNotQueued) {
    client home = make_client(), other = make_client();
    fair_mutex held{home, "lock"}, wanted{other, "lock"};
    held.lock(lease_time{5s});
    EXPECT_FALSE(wanted.try_lock());
    EXPECT_EQ(store().waiting("lock"), 0u);
    if (store().leases_by_session())
        held.unlock();
    else
        store().pass(5s + 1ms);
    EXPECT_TRUE(wanted.try_lock());
    EXPECT_FALSE(unlocked(wanted));
}

TEST_P(RedissonFairLock, ATimedTryLeavesNoEntryBehind) {
    client home = make_client(), other = make_client();
    fair_mutex held{home, "lock"}, wanted{other, "lock"};
    held.lock();
    EXPECT_FALSE(wanted.try_lock_for(200ms));
    EXPECT_TRUE(stand_in_queue(0));
    EXPECT_FALSE(unlocked(held));
    EXPECT_TRUE(wanted.try_lock());
    EXPECT_FALSE(unlocked(wanted));
}

TEST_P(RedissonFairLock, TryWaitsItsTimeout) {
    client home = make_client(), other = make_client();
    fair_mutex held{home, "lock"}, wanted{other, "lock"};
    held.lock();
    const time_point begin = boot_clock::now();
    EXPECT_FALSE(wanted.try_lock_for(300ms));
    EXPECT_GE(boot_clock::now() - begin, 299ms);
    EXPECT_FALSE(unlocked(held));
}

TEST_P(RedissonFairLock, ForceUnlockLetsTheNextIn) {
    client home = make_client(),
           other = make_client({.unavailable_timeout = 1s, .poll_bound = hardly_ever});
    fair_mutex lock{home, "lock"};
    fair_mutex next{other, "lock", {.waiter_timeout = 15min}};
    lock.lock();
    auto waits = std::async(std::launch::async, [&] {
        next.lock();
        return unlocked(next);
    });
    ASSERT_TRUE(support::eventually([&] { return store().listeners() > 0; }));
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_FALSE(support::soon(std::move(waits)));
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
    EXPECT_FALSE(lock.force_unlock());
}

TEST_P(RedissonFairLock, AnExpiredHoldPassesOnAndItsUnlockIsTold) {
    client home = make_client(), other = make_client();
    fair_mutex held{home, "lock"}, next{other, "lock"};
    held.lock(lease_time{2s});
    auto waits = std::async(std::launch::async, [&] {
        next.lock();
        return unlocked(next);
    });
    ASSERT_TRUE(stand_in_queue(1));
    store().pass(2s);
    EXPECT_FALSE(support::soon(std::move(waits)));
    EXPECT_EQ(unlocked(held), errc::lease_lost); // which Redisson does not tell
}

TEST_P(RedissonFairLock, AClosedClientsLockEndsWithItsLease) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client other = make_client();
    fair_mutex watched{other, "lock"};
    std::optional<client> home = make_client({.close_timeout = 0ms});
    std::optional<fair_mutex> lock{std::in_place, *home, "lock"};
    lock->lock();
    home.reset();
    EXPECT_TRUE(watched.is_locked());
    store().pass(30s + 1ms);
    EXPECT_FALSE(watched.is_locked());
}

TEST_P(RedissonFairLock, HoldCountFollowsNesting) {
    client home = make_client();
    fair_mutex lock{home, "lock", counted};
    for (const std::size_t depth : {1u, 2u, 3u}) {
        EXPECT_TRUE(lock.try_lock());
        EXPECT_EQ(lock.hold_count(), depth);
    }
    for (const std::size_t left : {2u, 1u, 0u}) {
        EXPECT_FALSE(unlocked(lock));
        EXPECT_EQ(lock.hold_count(), left);
        EXPECT_EQ(lock.is_locked(), left > 0);
    }
}

TEST_P(RedissonFairLock, WhoHoldsIsToldApartByThread) {
    client home = make_client();
    fair_mutex lock{home, "lock"};
    EXPECT_EQ(unlocked(lock), errc::not_owner);
    lock.lock();
    EXPECT_TRUE(lock.is_held_by_this_thread());
    std::thread{[&] {
        EXPECT_FALSE(lock.is_held_by_this_thread());
        EXPECT_TRUE(lock.is_locked());
        EXPECT_EQ(unlocked(lock), errc::not_owner);
    }}.join();
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(lock.is_locked());
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonFairLock, ThreadsOfSeveralClientsCountExactly) {
    int counter = 0;
    const int clients = scaled(4, 16), rounds = scaled(10, 100);
    {
        std::deque<std::jthread> all;
        for (int i = 0; i < clients; ++i)
            all.emplace_back([&] {
                client home = make_client();
                fair_mutex lock{home, "lock"};
                for (int round = 0; round < rounds; ++round) {
                    const std::scoped_lock held{lock};
                    ++counter;
                }
            });
    }
    EXPECT_EQ(counter, clients * rounds);
    EXPECT_EQ(store().held() + store().waiting("lock"), 0u);
}

TEST_P(RedissonFairLock, TheOrderIsThatOfArrivalWhateverTheProcess) {
    client home = make_client(), other = make_client();
    store().stranger_takes("lock", 1h);
    auto all = one_after_the_other(12, [&](int i) {
        fair_mutex lock{i % 3 == 0 ? home : other, "lock"};
        const std::scoped_lock held{lock};
        note(i);
    });
    store().stranger_releases("lock");
    all.clear();
    EXPECT_EQ(order_, first(12));
}

TEST_P(RedissonFairLock, TheQueueHasTheMappedName) {
    client home = make_client(
        {.name_mapper = [](std::string_view name) { return "app:" + std::string{name}; }});
    fair_mutex lock{home, "lock"}, same{home, "lock"};
    lock.lock();
    auto waits = std::async(std::launch::async, [&] {
        same.lock();
        return unlocked(same);
    });
    EXPECT_TRUE(stand_in_queue(1, "app:lock"));
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(support::soon(std::move(waits)));
}

TEST_P(RedissonFairLock, AWaiterOfAServerThatStoodStillLeavesTheQueue) {
    client home = make_client({.unavailable_timeout = 100ms}), other = make_client();
    fair_mutex held{other, "lock"};
    held.lock();
    auto waits = std::async(std::launch::async, [&] {
        fair_mutex lock{home, "lock"};
        try {
            return lock.try_lock_for(5min);
        } catch (const boost::system::system_error&) {
            return false; // it is told, where Redisson says "busy"
        }
    });
    ASSERT_TRUE(stand_in_queue(1));
    store().freeze();
    EXPECT_FALSE(support::soon(std::move(waits)));
    store().thaw();
    EXPECT_TRUE(stand_in_queue(0));
    EXPECT_FALSE(unlocked(held));
}

// Not among Redisson's.

TEST_P(RedissonFairLock, NobodyOvertakesAJvm) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client();
    fair_mutex lock{home, "lock"};
    store().stranger_takes("lock", 1h);
    store().stranger_queues("lock");
    store().evict("lock");
    EXPECT_FALSE(lock.try_lock_for(100ms));
    EXPECT_TRUE(stand_in_queue(1)) << "the JVM's place";
}

TEST_P(RedissonFairLock, AReleaseIsToldToTheNext) {
    client home = make_client(),
           other = make_client({.unavailable_timeout = 1s, .poll_bound = hardly_ever});
    fair_mutex lock{home, "lock"};
    fair_mutex next{other, "lock", {.waiter_timeout = 15min}};
    lock.lock(lease_time{1h});
    auto waits = std::async(std::launch::async, [&] {
        next.lock();
        return unlocked(next);
    });
    ASSERT_TRUE(support::eventually([&] { return store().listeners() > 0; }));
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(support::soon(std::move(waits)));
}

TEST_P(RedissonFairLock, AnUnansweredLookTakesOnePlace) {
    options how;
    how.poll_bound = 25ms;
    store().reach_badly(how);
    client home{std::move(how)};
    store().stranger_takes("lock", 1h);
    store().lose_answer_about("lock");
    fair_mutex lock{home, "lock"};
    auto waits = std::async(std::launch::async, [&] {
        lock.lock();
        return unlocked(lock);
    });
    EXPECT_TRUE(support::eventually([&] { return store().listeners() > 0; }));
    EXPECT_EQ(store().waiting("lock"), 1u);
    store().stranger_releases("lock");
    EXPECT_FALSE(support::soon(std::move(waits)));
    EXPECT_TRUE(stand_in_queue(0));
}

TEST_P(RedissonFairLock, AThreadThatHoldsItIsToldAtOnce) {
    client home = make_client();
    fair_mutex lock{home, "lock"}, same{home, "lock"};
    lock.lock();
    for (fair_mutex* each : {&lock, &same}) {
        try {
            each->lock();
            ADD_FAILURE() << "entered again";
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), errc::already_held);
        }
    }
    EXPECT_EQ(lock.hold_count(), 1u);
    EXPECT_FALSE(unlocked(lock));
}

// RedissonReadWriteLockTest, as far as a lock of ours can be asked the same (README.md).

class RedissonReadWriteLock : public suite {
protected:
    /// Where all but the others' clients belong.
    client& home() {
        if (!home_)
            home_.reset(new client{make_client()});
        return *home_;
    }
    static error_code unlocked_shared(shared_mutex& lock) {
        error_code ec;
        lock.unlock_shared(ec);
        return ec;
    }
    template <typename Work>
    static auto elsewhere(Work work) {
        decltype(work()) said{};
        std::thread{[&] { said = work(); }}.join();
        return said;
    }

private:
    std::unique_ptr<client> home_;
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonReadWriteLock, lock_kind::read);

TEST_P(RedissonReadWriteLock, AWriterEntersWhenTheLongerReadLeaseIsOver) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    const auto reads_for = [&](duration length) {
        return elsewhere([&, length] {
            lock.lock_shared(lease_time{length});
            return true;
        });
    };
    reads_for(10s);
    reads_for(3s);
    store().pass(4s);
    client other = make_client();
    shared_mutex his{other, "lock"};
    EXPECT_FALSE(his.try_lock());
    store().pass(6s + 100ms);
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, IsLockedToldBySide) {
    shared_mutex lock{home(), "lock"};
    EXPECT_FALSE(lock.shared().is_locked());
    lock.lock();
    EXPECT_FALSE(lock.shared().is_locked());
    EXPECT_TRUE(lock.is_locked());
    lock.lock_shared();
    EXPECT_TRUE(lock.shared().is_locked());
    lock.unlock_shared();
    lock.unlock();
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonReadWriteLock, ATaggedNameIsReadByManyThreads) {
    shared_mutex lock{home(), "{test}:abc:key"};
    std::vector<std::thread> all;
    std::atomic<int> well = 0;
    for (int i = 0; i < 10; ++i)
        all.emplace_back([&] {
            for (int round = 0; round < 10; ++round) {
                lock.lock_shared();
                well += unlocked_shared(lock) ? 0 : 1;
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(well, 100);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonReadWriteLock, AWritersLeaseThatIsOverLetsReadersIn) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    elsewhere([&] { return (lock.lock(lease_time{10s}), true); });
    EXPECT_FALSE(his.try_lock_shared());
    store().pass(11s);
    EXPECT_TRUE(his.try_lock_shared());
    his.unlock_shared();
}

TEST_P(RedissonReadWriteLock, TheFirstReadersTimeEndsByItself) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    client second = make_client(), third = make_client();
    shared_mutex hers{second, "lock"}, his{third, "lock"};
    elsewhere([&] { return (lock.lock_shared(lease_time{10s}), true); });
    store().pass(5s);
    EXPECT_TRUE(hers.try_lock_shared());
    hers.unlock_shared();
    EXPECT_FALSE(his.try_lock());
    store().pass(5s + 100ms);
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, WriteStaysWhenTheReadHoldUnderItEnds) {
    shared_mutex lock{home(), "lock"};
    lock.lock();
    lock.lock_shared();
    lock.unlock_shared();
    EXPECT_TRUE(lock.is_locked());
    lock.unlock();
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonReadWriteLock, TwentyReadersFollowAWriter) {
    shared_mutex lock{home(), "lock"};
    lock.lock();
    std::atomic<int> inside = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 20; ++i)
        all.emplace_back([&] {
            const std::shared_lock reading{lock};
            ++inside;
            while (inside < 20) // none leaves before all are in
                std::this_thread::yield();
        });
    lock.unlock();
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(inside, 20);
}

TEST_P(RedissonReadWriteLock, AnOwnerReadsUnderItsWriteAndOthersDoNot) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock();
    lock.lock_shared();
    EXPECT_FALSE(his.try_lock_shared());
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_shared(); }));
    lock.unlock();
    EXPECT_FALSE(his.try_lock());
    lock.unlock_shared();
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, ManyReadAndAWriterWaitsForAll) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    EXPECT_FALSE(lock.shared().force_unlock());
    lock.lock_shared();
    his.lock_shared();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
    lock.unlock_shared();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
    his.unlock_shared();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(RedissonReadWriteLock, EachSideIsForcedInItsOwnModeOnly) {
    shared_mutex lock{home(), "lock"};
    lock.lock_shared();
    EXPECT_FALSE(lock.force_unlock());
    EXPECT_TRUE(lock.shared().force_unlock());
    EXPECT_EQ(unlocked_shared(lock), errc::lease_lost);
    lock.lock();
    EXPECT_FALSE(lock.shared().force_unlock());
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
}

TEST_P(RedissonReadWriteLock, AReaderThatLeavesDoesNotEndAnothers) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock_shared(lease_time{2s});
    EXPECT_TRUE(his.try_lock_shared());
    his.unlock_shared();
    EXPECT_FALSE(unlocked_shared(lock));
}

TEST_P(RedissonReadWriteLock, AnExpiredWritersUnlockIsTold) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock(lease_time{2s});
    store().pass(2s + 100ms);
    EXPECT_TRUE(his.try_lock_for(support::far_too_long));
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
    his.unlock();
}

TEST_P(RedissonReadWriteLock, HoldCountsOfBothSidesFollowNesting) {
    shared_mutex lock{home(), "lock", {.again = recursion::counted}};
    for (basic_mutex* const side : {&lock.shared(), static_cast<basic_mutex*>(&lock)}) {
        EXPECT_EQ(side->hold_count(), 0u);
        side->lock();
        side->lock();
        EXPECT_EQ(side->hold_count(), 2u);
        EXPECT_EQ(elsewhere([side] { return side->hold_count(); }), 0u);
        side->unlock();
        EXPECT_TRUE(side->is_held_by_this_thread());
        side->unlock();
        EXPECT_FALSE(side->is_held_by_this_thread());
    }
}

TEST_P(RedissonReadWriteLock, OnlyAReaderUnlocks) {
    shared_mutex lock{home(), "lock"};
    EXPECT_EQ(unlocked_shared(lock), errc::not_owner);
    lock.lock_shared();
    EXPECT_EQ(elsewhere([&] { return unlocked_shared(lock); }), errc::not_owner);
    EXPECT_FALSE(unlocked_shared(lock));
}

TEST_P(RedissonReadWriteLock, RandomMixesCountExactly) {
    const int rounds = scaled(10, 100);
    std::atomic<int> readers = 0, writers = 0, faults = 0, done = 0;
    const auto mix = [&](client& of, unsigned seed) {
        shared_mutex lock{of, "lock"};
        for (int i = 0; i < rounds; ++i) {
            seed = seed * 1'103'515'245 + 12'345;
            if ((seed >> 16) % 3 == 0) {
                const std::unique_lock writing{lock};
                faults += ++writers != 1 || readers != 0;
                --writers;
            } else {
                const std::shared_lock reading{lock};
                ++readers;
                faults += writers != 0;
                --readers;
            }
            ++done;
        }
    };
    client& mine = home();
    client other = make_client();
    std::vector<std::thread> all;
    for (unsigned i = 0; i < 8; ++i)
        all.emplace_back([&, i] { mix(i % 2 == 0 ? mine : other, i); });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(done, 8 * rounds);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonReadWriteLock, ADeadReaderBesideALivingOneDoesNotBlockForEver) {
    shared_mutex lock{home(), "lock"};
    client dead = make_client({.lease_time = 3s, .close_timeout = 0ms});
    shared_mutex hers{dead, "lock"};
    lock.lock_shared(lease_time{20s});
    elsewhere([&] { return (hers.lock_shared(), true); });
    dead.close();
    store().pass(4s);
    lock.unlock_shared();
    EXPECT_TRUE(lock.try_lock_for(support::far_too_long));
    lock.unlock();
}

// Tests of RedissonSpinLockTest that RedissonLockTest does not have. The tests of RedissonLockTest
// run with spin locks too.

class RedissonSpinLock : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(make_client());
        other_.emplace(make_client());
        held_.emplace(*home_, "lock");
        wanted_.emplace(*other_, "lock");
    }

    std::optional<client> home_, other_;
    std::optional<spin_mutex> held_, wanted_; ///< one lock, with Redisson's own pauses
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonSpinLock, lock_kind::spin);

TEST_P(RedissonSpinLock, AnAsynchronousLockWaitsForTheRelease) {
    held_->lock();
    std::future<lease> waiting = wanted_->async_lock(asio::use_future);
    EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
    EXPECT_FALSE(unlocked(*held_));
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(RedissonSpinLock, ATimedAsynchronousTryWaitsForTheRelease) {
    held_->lock();
    auto waiting = wanted_->async_try_lock_for(support::far_too_long, asio::use_future);
    EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
    EXPECT_FALSE(unlocked(*held_));
    EXPECT_TRUE(support::soon(std::move(waiting)).has_value());
}

TEST_P(RedissonSpinLock, ATimedAsynchronousTryEndsWithItsTimeout) {
    held_->lock();
    const time_point begin = boot_clock::now();
    EXPECT_FALSE(support::soon(wanted_->async_try_lock_for(300ms, asio::use_future)));
    EXPECT_GE(boot_clock::now() - begin, 299ms);
    EXPECT_FALSE(unlocked(*held_));
}

TEST_P(RedissonSpinLock, AnAsynchronousTryAtAHeldLockIsFalse) {
    held_->lock();
    EXPECT_FALSE(support::soon(wanted_->async_try_lock(asio::use_future)));
    EXPECT_FALSE(unlocked(*held_));
}

TEST_P(RedissonSpinLock, AnAsynchronousTryAtAFreeLockIsTrue) {
    std::optional<lease> held = support::soon(wanted_->async_try_lock(asio::use_future));
    ASSERT_TRUE(held);
    held->unlock();
    EXPECT_EQ(store().held(), 0u);
}

} // namespace
} // namespace holdfast::conformance
