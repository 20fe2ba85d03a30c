// SPDX-License-Identifier: Apache-2.0
// What makes the commonest calls fast changes nothing of what they mean: calls that visit, lanes,
// hand-off inside a client, and releases that nobody waits for.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

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
    in_threads(24, [&](int i) { // more than there are lanes
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
    const auto ear = std::make_shared<support::recorder>();
    client home = make_client({.observer = ear}), other = make_client();
    mutex lock{home, "lock", deferred_release};
    mutex same{other, "lock"};
    for (int i = 0; i < 50; ++i) {
        lock.lock();
        lock.unlock();
    }
    EXPECT_TRUE(support::eventually([&] { return store().held() == 0; }));
    EXPECT_TRUE(same.try_lock());
    same.unlock();
    EXPECT_TRUE(support::eventually([&] { return ear->of(event_kind::released).size() == 50; }));
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
