// SPDX-License-Identifier: Apache-2.0
// RedissonRateLimiterTest, row by row (README.md), against every store: what rate_test.cpp has not.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::soon;

class RedissonRateLimiter : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonRateLimiter, counter_kind::rate);

TEST_P(RedissonRateLimiter, ItsRateIsReadAsItWasSet) {
    client home = make_client(), other = make_client();
    rate_limiter mails{home, "mails"}, seen{other, "mails"};
    const rate first{.permits = 1, .per = 5s, .scope = rate::scope_of::overall, .kept = {}};
    const rate second{.permits = 20, .per = 2h, .scope = rate::scope_of::per_client, .kept = 3h};
    EXPECT_EQ(seen.current_rate(), std::nullopt);
    EXPECT_TRUE(mails.try_set_rate(first));
    EXPECT_EQ(seen.current_rate(), first);
    EXPECT_FALSE(seen.try_set_rate(second));
    EXPECT_EQ(seen.current_rate(), first);
    seen.set_rate(second);
    EXPECT_EQ(mails.current_rate(), second);
}

TEST_P(RedissonRateLimiter, AllOfTheRateIsDrawnByACrowdAndNoMore) {
    client home = make_client(), other = make_client();
    rate_limiter here{home, "mails"}, there{other, "mails"};
    const int permits = scaled(20, 100);
    here.set_rate({.permits = permits, .per = 1h});
    std::vector<std::future<bool>> all;
    for (int i = 0; i < 2 * permits; ++i)
        all.push_back((i % 2 == 0 ? here : there)
                          .async_try_acquire_for(support::far_too_long, 1, asio::use_future));
    const auto drawn = [&all] { return std::ranges::count_if(all, support::is_ready<bool>); };
    EXPECT_TRUE(support::eventually([&] { return drawn() == permits; }));
    EXPECT_EQ(here.available_permits(), 0);
    EXPECT_FALSE(there.try_acquire());
    EXPECT_EQ(drawn(), permits);
    here.release(3);
    EXPECT_TRUE(support::eventually([&] { return drawn() == permits + 3; }));
    here.set_rate({.permits = counting_semaphore::max(), .per = 1h});
    for (std::future<bool>& each : all)
        EXPECT_TRUE(soon(std::move(each)));
}

TEST_P(RedissonRateLimiter, WithoutPatienceNobodyWaitsAndTheIntervalBringsAllBack) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    mails.set_rate({.permits = 5, .per = 1min});
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 8; ++i)
            EXPECT_EQ(mails.try_acquire_for(0ms), i < 5) << i;
        home.pass(1min + 2ms); // a draw is dated a millisecond later at most
    }
    EXPECT_EQ(mails.available_permits(), 5);
}

TEST_P(RedissonRateLimiter, ATryEndsWithItsPatience) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1h});
    mails.acquire();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(mails.try_acquire_for(50ms));
    EXPECT_FALSE(mails.try_acquire_for(50ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 98ms) << "a moment is a whole millisecond";
}

TEST_P(RedissonRateLimiter, OneAfterTheOtherDrawsAreAnIntervalApart) {
    client home = make_client({.poll_bound = hardly_ever});
    rate_limiter mails{home, "mails"};
    constexpr duration per = 50ms;
    mails.set_rate({.permits = 1, .per = per});
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i)
        mails.acquire();
    EXPECT_GE(std::chrono::steady_clock::now() - start, 9 * per - 1ms);
}

TEST_P(RedissonRateLimiter, TheWholeRateIsDrawnInEachInterval) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    EXPECT_TRUE(mails.try_set_rate({.permits = 10, .per = 1min}));
    EXPECT_FALSE(mails.try_set_rate({.permits = 20, .per = 1min}));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 10; ++i)
            EXPECT_TRUE(mails.try_acquire());
        EXPECT_FALSE(mails.try_acquire());
        home.pass(1min + 2ms);
    }
}

TEST_P(RedissonRateLimiter, OfEitherScopeAChangeBeginsAnew) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    for (const rate::scope_of scope : {rate::scope_of::per_client, rate::scope_of::overall})
        for (const std::int64_t permits : {10, 4}) {
            mails.set_rate({.permits = permits, .per = 1h, .scope = scope, .kept = {}});
            EXPECT_EQ(mails.available_permits(), permits);
            EXPECT_TRUE(mails.try_acquire(permits));
            EXPECT_FALSE(mails.try_acquire());
        }
}

} // namespace
} // namespace holdfast::conformance
