// SPDX-License-Identifier: Apache-2.0
// The tests of RedissonLockTest that need a crowd.
#include "conformance/suite.hpp"

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

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

} // namespace
} // namespace holdfast::conformance
