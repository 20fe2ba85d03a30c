// SPDX-License-Identifier: Apache-2.0
// Servers that go and come back: what a waiter, a holder and the next one see of it.
#include "chaos/on_proxy.hpp"

#include <boost/asio/use_future.hpp>

#include <future>

namespace holdfast::chaos {
namespace {

class Outage : public on_proxy {
protected:
    static lease taken(mutex& lock) { return soon(lock.async_lock(asio::use_future)); }

    std::future<void> lock_aside(mutex& lock) {
        return std::async(std::launch::async, [&lock] {
            lock.lock();
            lock.unlock();
        });
    }
};
HOLDFAST_ON_EACH_SERVER(Outage);

TEST_P(Outage, AWaitSurvivesIt) {
    client home{directly()};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    server().stop();
    auto waiting = lock_aside(lock);
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
    EXPECT_FALSE(support::is_ready(waiting));
    server().start();
    EXPECT_NO_THROW(soon(std::move(waiting)));
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::reconnected) > 0; }));
}

TEST_P(Outage, AWaitEndsWithItsPatience) {
    options how = directly();
    how.unavailable_patience = 300ms;
    client home{how};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    server().stop();
    EXPECT_EQ(thrown_by([&] { lock.lock(); }).code, errc::unreachable);
}

// [S1]
TEST_P(Outage, AServerThatComesBackEmptyTakesTheHoldWithIt) {
    options how = directly();
    how.lease_time = 3s;
    client home{how}, other{directly()};
    mutex lock{home, "L"}, next{other, "L"};
    const lease held = taken(lock);
    server().restart_empty();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::refused);
    EXPECT_TRUE(next.try_lock());
    next.unlock();
}

// [S3]
TEST_P(Outage, AServerThatPausesForLessThanALeaseCostsNothing) {
    options how = directly();
    how.lease_time = 3s;
    client home{how};
    mutex lock{home, "L"};
    const lease held = taken(lock);
    server().pause();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::renewal_failed) > 0; }));
    server().resume();
    EXPECT_TRUE(eventually([&] { return held.remaining() > 2500ms; }));
    EXPECT_FALSE(held.lost().stop_requested());
}

// [S3]
TEST_P(Outage, AServerThatPausesForLongerEndsTheHoldInTimeAndFreesTheLock) {
    options how = directly();
    how.lease_time = 1500ms;
    client home{how}, other{directly()};
    mutex lock{home, "L"}, next{other, "L"};
    const auto taken_at = std::chrono::steady_clock::now();
    const lease held = taken(lock);
    server().pause();
    ASSERT_TRUE(eventually([&] { return held.in_danger().stop_requested(); }));
    EXPECT_TRUE(held.owns_lock());
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_LT(std::chrono::steady_clock::now() - taken_at, 3 * how.lease_time);
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::term_ended);
    server().resume();
    next.lock();
    EXPECT_EQ(owners(), 1);
    next.unlock();
}

class OutageOfMemory : public on_proxy {
protected:
    OutageOfMemory()
        : on_proxy{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}
};
HOLDFAST_ON_EACH_SERVER(OutageOfMemory);

// [S2]
TEST_P(OutageOfMemory, AServerThatComesBackWithItsDataKeepsTheHold) {
    options how = directly();
    how.lease_time = 3s;
    client home{how}, other{directly()};
    mutex lock{home, "L"}, next{other, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    server().stop();
    server().start();
    EXPECT_FALSE(next.try_lock());
    EXPECT_TRUE(is_renewed(held));
    EXPECT_FALSE(held.lost().stop_requested());
}

} // namespace
} // namespace holdfast::chaos
