// SPDX-License-Identifier: Apache-2.0
// RedissonCountDownLatchTest and RedissonCountDownLatchConcurrentTest, row by row (README.md),
// against every store.
#include "conformance/suite.hpp"

#include <holdfast/latch.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::soon;

class RedissonCountDownLatch : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(make_client());
        other_.emplace(make_client());
        mine_.emplace(*home_, "gate");
        theirs_.emplace(*other_, "gate");
    }

    std::optional<client> home_, other_;
    std::optional<latch> mine_, theirs_; ///< one latch
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonCountDownLatch, counter_kind::latch);

TEST_P(RedissonCountDownLatch, ATimedWaitEndsWhenItIsCountedDown) {
    EXPECT_TRUE(mine_->try_set_count(1));
    auto waits = theirs_->async_wait_for(support::far_too_long, asio::use_future);
    EXPECT_EQ(waits.wait_for(100ms), std::future_status::timeout);
    mine_->count_down();
    EXPECT_TRUE(soon(std::move(waits)));
}

TEST_P(RedissonCountDownLatch, ATimedWaitEndsWithItsPatience) {
    EXPECT_TRUE(mine_->try_set_count(1));
    const time_point begin = boot_clock::now();
    EXPECT_FALSE(theirs_->wait_for(200ms));
    EXPECT_GE(boot_clock::now() - begin, 199ms);
    mine_->count_down();
    EXPECT_TRUE(theirs_->wait_for(0ms));
}

TEST_P(RedissonCountDownLatch, AllWhoWaitAreLetThrough) {
    EXPECT_TRUE(mine_->try_set_count(5));
    std::vector<std::future<void>> waits;
    for (int i = 0; i < 5; ++i)
        waits.push_back((i % 2 == 0 ? mine_ : theirs_)->async_wait(asio::use_future));
    for (int i = 0; i < 5; ++i)
        mine_->count_down();
    for (std::future<void>& each : waits)
        soon(std::move(each));
}

TEST_P(RedissonCountDownLatch, CountsDownToZeroAndNoFurther) {
    EXPECT_TRUE(mine_->try_set_count(2));
    EXPECT_EQ(mine_->count(), 2);
    mine_->count_down();
    EXPECT_EQ(mine_->count(), 1);
    mine_->count_down();
    EXPECT_EQ(mine_->count(), 0);
    mine_->wait();
    mine_->count_down();
    EXPECT_EQ(mine_->count(), 0);
    mine_->wait();
    mine_->count_down();
    EXPECT_EQ(mine_->count(), 0);
    theirs_->wait();
}

TEST_P(RedissonCountDownLatch, IsErasedOnlyIfItIsThere) {
    EXPECT_FALSE(mine_->erase());
    EXPECT_TRUE(mine_->try_set_count(1));
    EXPECT_TRUE(mine_->erase());
}

TEST_P(RedissonCountDownLatch, IsSetOnce) {
    EXPECT_TRUE(mine_->try_set_count(1));
    EXPECT_FALSE(mine_->try_set_count(2));
    EXPECT_EQ(mine_->count(), 1);
}

TEST_P(RedissonCountDownLatch, WithoutOneTheCountIsZero) {
    EXPECT_EQ(mine_->count(), 0);
}

TEST_P(RedissonCountDownLatch, WhoWaitsSeesWhatWasDoneBefore) {
    constexpr int threads = 12;
    EXPECT_TRUE(mine_->try_set_count(threads));
    std::atomic<int> counted = 0, too_early = 0;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&, i] {
                latch& gate = i % 2 == 0 ? *mine_ : *theirs_;
                ++counted;
                gate.count_down();
                gate.wait();
                if (counted != threads)
                    ++too_early;
            });
    }
    EXPECT_EQ(too_early, 0);
    EXPECT_EQ(mine_->count(), 0);
}

} // namespace
} // namespace holdfast::conformance
