// SPDX-License-Identifier: Apache-2.0
// Waiting for notifications: which event wakes which waiter, and how many requests a wait needs.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

class Waking : public suite {
protected:
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
    /// Waits until all waiters sleep. A waiter that has subscribed polls once more and then sleeps.
    /// So there are two requests since the count was `asked`, if the store knows the scripts
    /// already.
    bool all_sleep_after(std::size_t asked) {
        return support::eventually(
            [&] { return store().listeners() > 0 && store().requests() >= asked + 2; });
    }
    /// Something else happens at the store meanwhile: whatever the waiters may do, they have time.
    void make_traffic(client& by, int pairs) {
        mutex shelf{by, "shelf"};
        for (int i = 0; i < pairs; ++i) {
            shelf.lock();
            shelf.unlock();
        }
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Waking, lock_kind::fenced, lock_kind::token);

TEST_P(Waking, AReleaseBetweenLookAndSleepIsNotMissed) {
    client home = make_client({.poll_bound = hardly_ever});
    mutex lock{home, "lock"};
    for (int i = 0; i < scaled(50, 1000); ++i) {
        store().stranger_takes("lock", 30s);
        std::future<lease> waiting = lock.async_lock(asio::use_future);
        for (int turns = 0; turns < i % 10; ++turns)
            std::this_thread::yield();
        store().stranger_releases("lock");
        ASSERT_TRUE(support::soon(std::move(waiting)).owns_lock()) << "in round " << i;
        ASSERT_TRUE(support::eventually([&] { return store().held() == 0; }));
    }
}

TEST_P(Waking, TheEndOfADeadHoldersLeaseWakesAWaiter) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    // A request may still be under way when the time jumps, and the client takes its reply for
    // lost. With this timeout it repeats the request instead of failing.
    moving_client home{store(), {.unavailable_timeout = 1h, .poll_bound = hardly_ever}};
    mutex lock{home.get(), "lock"};
    make_traffic(home.get(), 1);
    const std::size_t asked = store().requests();
    store().stranger_takes("lock", 20s);
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    ASSERT_TRUE(all_sleep_after(asked));
    EXPECT_FALSE(support::is_ready(waiting));
    home.pass(20s + 10ms);
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Waking, IdleWaitersCostNothing) {
    HOLDFAST_NEEDS(counts_requests);
    HOLDFAST_NEEDS(waiters_only_listen);
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    make_traffic(other, 1);
    mutex lock{home, "lock"};
    make_traffic(home, 1);
    const std::size_t asked = store().requests();
    store().stranger_takes("lock", 1h);
    std::vector<std::future<lease>> waiting;
    for (int i = 0; i < 100; ++i)
        waiting.push_back(lock.async_lock(asio::use_future));
    ASSERT_TRUE(all_sleep_after(asked));
    EXPECT_EQ(store().listeners(), 1u) << "each of them listens";
    const std::size_t one_pair = requests_during([&] { make_traffic(other, 1); });
    EXPECT_EQ(requests_during([&] { make_traffic(other, 100); }), 100 * one_pair);
    home.close();
    for (auto& each : waiting)
        EXPECT_THROW(support::soon(std::move(each)), boost::system::system_error);
}

TEST_P(Waking, AWakeUpWakesOneWaiterOnly) {
    HOLDFAST_NEEDS(counts_requests);
    client home = make_client({.close_timeout = 0ms, .poll_bound = hardly_ever});
    mutex lock{home, "lock"};
    make_traffic(home, 1);
    const std::size_t asked = store().requests();
    store().stranger_takes("lock", 1h);
    std::vector<std::future<lease>> waiting;
    for (int i = 0; i < 20; ++i)
        waiting.push_back(lock.async_lock(asio::use_future));
    ASSERT_TRUE(all_sleep_after(asked));
    lease held;
    EXPECT_EQ(requests_during([&] {
                  store().stranger_releases("lock");
                  held = support::soon(std::move(waiting.front()));
              }),
              1u);
    EXPECT_TRUE(held.owns_lock());
}

TEST_P(Waking, WaitersOfOneClientAreServedInOrder) {
    client home = make_client({.poll_bound = hardly_ever});
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 1h);
    std::vector<std::future<lease>> waiting;
    for (int i = 0; i < 10; ++i)
        waiting.push_back(lock.async_lock(asio::use_future));
    ASSERT_TRUE(somebody_listens());
    store().stranger_releases("lock");
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        const lease held = support::soon(std::move(waiting[i]));
        for (std::size_t later = i + 1; later < waiting.size(); ++later)
            EXPECT_FALSE(support::is_ready(waiting[later])) << later << " overtook " << i;
    }
}

TEST_P(Waking, WaitersOfManyClientsAreAllServed) {
    std::vector<client> clients;
    std::vector<std::future<lease>> waiting;
    store().stranger_takes("lock", 1h);
    for (int i = 0; i < 8; ++i) {
        clients.push_back(make_client({.poll_bound = hardly_ever}));
        waiting.push_back(mutex{clients.back(), "lock"}.async_lock(asio::use_future));
    }
    ASSERT_TRUE(somebody_listens());
    store().stranger_releases("lock");
    std::size_t served = 0;
    EXPECT_TRUE(support::eventually([&] {
        for (std::future<lease>& each : waiting)
            if (each.valid() && support::is_ready(each)) {
                EXPECT_TRUE(each.get().owns_lock());
                ++served;
            }
        return served == waiting.size();
    })) << served
        << " were served";
}

TEST_P(Waking, AServerThatComesBackEmptyServesWhoWaited) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 1h);
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    store().restart_empty();
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

} // namespace
} // namespace holdfast::conformance
