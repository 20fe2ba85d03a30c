// SPDX-License-Identifier: Apache-2.0
// RedissonFairLockTest, played by us: README.md says which test is which.
#include "conformance/suite.hpp"

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

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

    /// Who had the lock, in order.
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

TEST_P(RedissonFairLock, TryWaitsItsPatience) {
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
           other = make_client({.unavailable_patience = 1s, .poll_bound = hardly_ever});
    fair_mutex lock{home, "lock"};
    fair_mutex next{other, "lock", {.waiter_patience = 15min}};
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
    std::optional<client> home = make_client({.close_patience = 0ms});
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
    client home = make_client({.unavailable_patience = 100ms}), other = make_client();
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
           other = make_client({.unavailable_patience = 1s, .poll_bound = hardly_ever});
    fair_mutex lock{home, "lock"};
    fair_mutex next{other, "lock", {.waiter_patience = 15min}};
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

} // namespace
} // namespace holdfast::conformance
