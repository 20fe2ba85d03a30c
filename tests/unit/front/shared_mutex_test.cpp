// SPDX-License-Identifier: Apache-2.0
// shared_mutex as threads use it, and where std's would stand.
#include "unit/front/real_time.hpp"

#include <holdfast/shared_mutex.hpp>

#include <mutex>
#include <shared_mutex>
#include <thread>

// Whole, not only what the tests below call.
template class std::shared_lock<holdfast::shared_mutex>;
template class std::unique_lock<holdfast::shared_mutex>;
template class std::lock_guard<holdfast::shared_mutex>;
template class std::unique_lock<holdfast::basic_mutex>;

namespace holdfast {
namespace {

template <typename T>
concept shared_timed_mutex = requires(T m, std::chrono::seconds how_long,
                                      std::chrono::steady_clock::time_point until) {
    m.lock();
    { m.try_lock() } -> std::same_as<bool>;
    { m.try_lock_for(how_long) } -> std::same_as<bool>;
    { m.try_lock_until(until) } -> std::same_as<bool>;
    m.unlock();
    m.lock_shared();
    { m.try_lock_shared() } -> std::same_as<bool>;
    { m.try_lock_shared_for(how_long) } -> std::same_as<bool>;
    { m.try_lock_shared_until(until) } -> std::same_as<bool>;
    m.unlock_shared();
};
static_assert(shared_timed_mutex<shared_mutex>);

class SharedMutex : public in_real_time {
protected:
    shared_mutex prices{alice, "prices"}, bobs{bob, "prices"};

    template <typename Act>
    static auto code_of(Act act) {
        return thrown_by(act).code;
    }
};

TEST_F(SharedMutex, StandsWhereStdsStands) {
    {
        const std::shared_lock mine{prices}, his{bobs, 3s};
        EXPECT_TRUE(his.owns_lock());
        EXPECT_FALSE(elsewhere([&] { return bobs.try_lock_for(1ms); }).get());
    }
    const std::scoped_lock alone{prices};
    EXPECT_FALSE(std::shared_lock(bobs, std::try_to_lock).owns_lock());
    EXPECT_FALSE(std::unique_lock(bobs.shared(), 1ms).owns_lock());
}

TEST_F(SharedMutex, ThreadsOfOneClientReadTogether) {
    prices.lock_shared();
    std::thread{[this] {
        EXPECT_FALSE(prices.try_lock());
        EXPECT_TRUE(prices.try_lock_shared());
        prices.unlock_shared();
    }}.join();
    EXPECT_TRUE(prices.shared().is_held_by_this_thread());
    EXPECT_FALSE(prices.is_held_by_this_thread());
    prices.unlock_shared();
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, AThreadThatReadsDoesNotWaitForItself) {
    prices.lock_shared();
    EXPECT_EQ(code_of([&] { prices.lock(); }), errc::already_held);
    EXPECT_EQ(code_of([&] { prices.lock_shared(); }), errc::already_held);
    EXPECT_TRUE(prices.try_upgrade_for(1s));
    EXPECT_EQ(code_of([&] { (void)prices.try_upgrade_for(1s); }), errc::already_held);
    EXPECT_FALSE(bobs.try_lock_shared());
    prices.unlock();
    EXPECT_TRUE(bobs.try_lock_shared());
    bobs.unlock_shared();
    prices.unlock_shared();
    EXPECT_EQ(code_of([&] { (void)prices.try_upgrade_for(1s); }), errc::not_owner);
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, AThreadThatWritesMayReadAndGoesOnReading) {
    prices.lock();
    prices.lock_shared();
    EXPECT_FALSE(bobs.try_lock_shared());
    prices.unlock();
    EXPECT_TRUE(bobs.try_lock_shared());
    EXPECT_FALSE(elsewhere([&] { return bobs.try_lock_for(1ms); }).get());
    bobs.unlock_shared();
    prices.unlock_shared();
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, BothSidesCountWhereTheyMay) {
    shared_mutex counted{alice, "counted", {.again = recursion::counted}};
    counted.lock();
    counted.lock();
    counted.lock_shared();
    counted.lock_shared();
    EXPECT_EQ(counted.hold_count(), 2u);
    EXPECT_EQ(counted.shared().hold_count(), 2u);
    counted.unlock();
    counted.unlock();
    counted.unlock_shared();
    EXPECT_FALSE(is_free("counted"));
    counted.unlock_shared();
    EXPECT_TRUE(is_free("counted"));
}

TEST_F(SharedMutex, ThisThreadsNextAttemptComesBehindADeferredRelease) {
    shared_mutex quick{alice, "quick", {.deferred = true}};
    for (int i = 0; i < 20; ++i) {
        quick.lock_shared();
        quick.unlock_shared();
        ASSERT_TRUE(quick.try_lock());
        quick.unlock();
        ASSERT_TRUE(quick.try_lock_shared());
        quick.unlock_shared();
    }
}

TEST_F(SharedMutex, AThreadThatEndsTakesTheHoldFromNobody) {
    prices.lock_shared();
    std::thread{[this] { prices.lock_shared(); }}.join();
    EXPECT_TRUE(prices.shared().is_held_by_this_thread());
    error_code ec;
    prices.unlock_shared(ec);
    EXPECT_FALSE(ec);
    EXPECT_FALSE(is_free("prices")) << "nobody knows what the thread that ended has not finished";
}

TEST_F(SharedMutex, WhatIsNotAllowedIsSaidBeforeAnythingIsSent) {
    EXPECT_EQ(code_of([&] { const shared_mutex m{alice, ""}; }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { const shared_mutex m(alice, "a", {.lease = lease_time{0s}}); }),
              errc::invalid_argument);
    EXPECT_EQ(code_of([&] { prices.lock_shared(lease_time{0s}); }), errc::invalid_argument);
}

} // namespace
} // namespace holdfast
