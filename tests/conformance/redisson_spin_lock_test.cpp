// SPDX-License-Identifier: Apache-2.0
// What RedissonSpinLockTest has beside the tests of RedissonLockTest, which run with spin locks
// too.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

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

TEST_P(RedissonSpinLock, ATimedAsynchronousTryEndsWithItsPatience) {
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
