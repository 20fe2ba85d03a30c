// SPDX-License-Identifier: Apache-2.0
// A spin lock's waiters poll: they listen to nobody, and its releases tell nobody. What it has as a
// lock is in the tests that run with each kind; when it polls, in tests/unit/sync/spin_test.cpp.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

class Spin : public suite {
protected:
    bool asks_on() {
        const std::size_t before = store().requests();
        return support::eventually([&] { return store().requests() > before + 2; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Spin, lock_kind::spin);

TEST_P(Spin, AWaiterListensToNobodyAndFindsAReleaseByItself) {
    client home = make_client({.poll_bound = hardly_ever});
    client other = make_client({.poll_bound = hardly_ever});
    spin_mutex held{home, "lock", {.polls = frequent}}, wanted{other, "lock", {.polls = frequent}};
    held.lock();
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    EXPECT_TRUE(asks_on());
    EXPECT_EQ(store().listeners(), 0u);
    EXPECT_FALSE(support::is_ready(waiting));
    EXPECT_FALSE(unlocked(held));
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
    EXPECT_EQ(store().listeners(), 0u);
}

TEST_P(Spin, AReleaseWakesNoWaiterOfAMutex) {
    moving_client home{store(), {}}; // which asks after five seconds, and its clock stands still
    client other = make_client();
    spin_mutex held{other, "lock"};
    holdfast::mutex wanted{home.get(), "lock"}, shelf{other, "shelf"};
    held.lock(lease_time{1h});
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return store().listeners() > 0; }));
    (void)wanted.is_locked(); // its second look was sent before that
    EXPECT_FALSE(unlocked(held));
    EXPECT_EQ(requests_during([&] {
                  for (int i = 0; i < 20; ++i)
                      (void)shelf.is_locked(); // whatever a waiter may do, it has time
              }),
              20u);
    EXPECT_FALSE(support::is_ready(waiting));
    home.pass(5s);
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Spin, ItExcludesAMutexOfItsName) {
    client home = make_client(), other = make_client();
    spin_mutex spin{home, "lock"};
    holdfast::mutex plain{other, "lock"};
    fenced_mutex fenced{other, "lock"};
    spin.lock();
    EXPECT_FALSE(plain.try_lock());
    EXPECT_FALSE(fenced.try_lock());
    EXPECT_FALSE(unlocked(spin));
    EXPECT_TRUE(plain.try_lock());
    EXPECT_FALSE(spin.try_lock());
    EXPECT_FALSE(unlocked(plain));
    EXPECT_TRUE(fenced.try_lock());
    EXPECT_FALSE(spin.try_lock_for(20ms));
    EXPECT_FALSE(unlocked(fenced));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Spin, OneWaiterOfAClientPollsForAll) {
    client home = make_client();
    store().stranger_takes("lock", 1h);
    spin_mutex lock{home, "lock", {.polls = {1min, 1min}}};
    std::vector<std::future<lease>> waiting;
    waiting.push_back(lock.async_lock(asio::use_future));
    ASSERT_TRUE(support::eventually([&] { return store().requests() > 0; }));
    (void)lock.is_locked(); // on the same way, so it comes behind that
    EXPECT_EQ(requests_during([&] {
                  for (int i = 0; i < 20; ++i)
                      waiting.push_back(lock.async_lock(asio::use_future));
                  (void)lock.is_locked();
              }),
              1u);
    home.close();
    for (std::future<lease>& each : waiting)
        EXPECT_THROW(support::soon(std::move(each)), boost::system::system_error);
}

} // namespace
} // namespace holdfast::conformance
