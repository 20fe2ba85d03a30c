// SPDX-License-Identifier: Apache-2.0
// The contract of rate_limiter, on every store.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::code_of;
using support::soon;

constexpr rate for_each_client{
    .permits = 2, .per = 1h, .scope = rate::scope_of::per_client, .kept = {}};

class Rate : public suite {
protected:
    /// Returns whether another caller has sent a request, so that it waits now. Polls are not
    /// visible in any other way.
    bool somebody_asked(std::size_t before) {
        return support::eventually([&] { return store().requests() > before; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Rate, counter_kind::rate);

TEST_P(Rate, LetsAsManyBeDrawnAsWasSet) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    EXPECT_EQ(mails.current_rate(), std::nullopt);
    EXPECT_EQ(mails.available_permits(), 0);
    const rate slow{.permits = 3, .per = 1h};
    EXPECT_TRUE(mails.try_set_rate(slow));
    EXPECT_FALSE(mails.try_set_rate({.permits = 9, .per = 1s}));
    EXPECT_EQ(mails.current_rate(), slow);
    EXPECT_EQ(mails.available_permits(), 3);
    mails.acquire(2);
    EXPECT_EQ(mails.available_permits(), 1);
    EXPECT_FALSE(mails.try_acquire(2));
    EXPECT_TRUE(mails.try_acquire());
    EXPECT_FALSE(mails.try_acquire());
    EXPECT_EQ(mails.available_permits(), 0);
    EXPECT_TRUE(mails.erase());
    EXPECT_FALSE(mails.erase());
    EXPECT_EQ(mails.current_rate(), std::nullopt);
}

TEST_P(Rate, SettingItForgetsWhatWasDrawn) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1h});
    mails.acquire();
    EXPECT_FALSE(mails.try_acquire());
    const rate next{.permits = 2, .per = 2h, .scope = rate::scope_of::per_client, .kept = 3h};
    mails.set_rate(next);
    EXPECT_EQ(mails.current_rate(), next);
    EXPECT_TRUE(mails.try_acquire(2));
    EXPECT_TRUE(soon(mails.async_set_rate(next, asio::use_future)));
    EXPECT_EQ(mails.available_permits(), 2);
    EXPECT_FALSE(soon(mails.async_try_set_rate(next, asio::use_future)));
    EXPECT_EQ(soon(mails.async_current_rate(asio::use_future)), next);
    EXPECT_EQ(soon(mails.async_available_permits(asio::use_future)), 2);
}

TEST_P(Rate, SettingItForgetsWhatAClientDrewForItselfAndNotWhatOthersDid) {
    client home = make_client(), other = make_client();
    rate_limiter here{home, "mails"}, there{other, "mails"};
    here.set_rate(for_each_client);
    here.acquire(2);
    there.acquire(1);
    here.set_rate(for_each_client);
    EXPECT_EQ(here.available_permits(), 2);
    EXPECT_EQ(there.available_permits(), 1);
}

TEST_P(Rate, WhatIsReleasedCanBeDrawnAgain) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 5, .per = 1h});
    mails.acquire(2);
    mails.acquire(3);
    mails.release(1);
    EXPECT_EQ(mails.available_permits(), 1);
    mails.release(3);
    EXPECT_EQ(mails.available_permits(), 4);
    soon(mails.async_release(7, asio::use_future));
    EXPECT_EQ(mails.available_permits(), 5) << "never more than the rate";
    EXPECT_TRUE(mails.try_acquire(5));
    EXPECT_FALSE(mails.try_acquire());
}

TEST_P(Rate, WhatWasDrawnIsFreeAfterTheInterval) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    constexpr duration half = 30s + 2ms; // a draw is dated a millisecond later at most
    mails.set_rate({.permits = 2, .per = 60s});
    mails.acquire();
    home.pass(half);
    mails.acquire();
    EXPECT_FALSE(mails.try_acquire());
    home.pass(half);
    EXPECT_TRUE(mails.try_acquire()) << "the first one's";
    EXPECT_FALSE(mails.try_acquire()) << "the window slides";
    home.pass(half);
    EXPECT_TRUE(mails.try_acquire()) << "the second one's";
    home.pass(61s);
    EXPECT_EQ(mails.available_permits(), 2);
    EXPECT_TRUE(mails.try_acquire(2));
}

TEST_P(Rate, NeverMoreInAnyInterval) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    mails.set_rate({.permits = 4, .per = 10s});
    std::vector<std::pair<duration, std::int64_t>> drawn; // and when
    duration now{};
    for (int i = 0; i < 40; ++i) {
        const std::int64_t wanted = 1 + i % 3;
        std::int64_t before = 0; // in the interval that ends now
        for (const auto& [at, permits] : drawn)
            before += at > now - 10s ? permits : 0;
        if (mails.try_acquire(wanted)) {
            EXPECT_LE(before + wanted, 4) << "at " << now.count();
            drawn.emplace_back(now, wanted);
        } else {
            before = 0;
            for (const auto& [at, permits] : drawn) // the server's clock runs on in between
                before += at > now - 15s ? permits : 0;
            EXPECT_GT(before + wanted, 4) << "at " << now.count();
        }
        home.pass(1s + 700ms);
        now += 1s + 700ms;
    }
    EXPECT_GT(drawn.size(), 10u);
}

TEST_P(Rate, AWaiterSleepsUntilItIsFree) {
    client home = make_client({.poll_bound = hardly_ever});
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 200ms});
    mails.acquire();
    const std::size_t asked = requests_during([&] {
        mails.acquire();
        soon(mails.async_acquire(1, asio::use_future));
    });
    EXPECT_LE(asked, 8u) << "each looks when there may be one";
    EXPECT_FALSE(mails.try_acquire_for(20ms));
    EXPECT_TRUE(mails.try_acquire_for(10s));
    EXPECT_FALSE(mails.try_acquire_until(std::chrono::steady_clock::now() + 20ms));
    EXPECT_TRUE(soon(mails.async_try_acquire_for(10s, 1, asio::use_future)));
}

TEST_P(Rate, NeverMoreThanTheRateOfManyAtOnce) {
    client home = make_client(), other = make_client();
    constexpr int permits = 5, each = 6;
    constexpr duration per = 100ms;
    rate_limiter here{home, "mails"}, there{other, "mails"};
    here.set_rate({.permits = permits, .per = per});
    std::mutex noting;
    std::vector<std::chrono::steady_clock::time_point> ended;
    std::vector<std::thread> all;
    const auto from = std::chrono::steady_clock::now();
    for (int i = 0; i < 6; ++i)
        all.emplace_back([&, i] {
            for (int n = 0; n < each; ++n) {
                (i % 2 == 0 ? here : there).acquire();
                const std::scoped_lock guard{noting};
                ended.push_back(std::chrono::steady_clock::now());
            }
        });
    for (std::thread& one : all)
        one.join();
    // 36 draws: the last of them cannot come before seven intervals are over.
    EXPECT_GE(*std::ranges::max_element(ended) - from, per * ((6 * each - 1) / permits) - 1ms);
}

TEST_P(Rate, AWaiterNoticesThatTheRateIsRaised) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1h});
    mails.acquire();
    const std::size_t before = store().requests();
    std::future<void> waiting = mails.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_asked(before));
    mails.set_rate({.permits = 2, .per = 1h});
    soon(std::move(waiting));
}

TEST_P(Rate, WaitersOfAClientAreServedInOrder) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 3, .per = 1h});
    mails.acquire(3);
    const std::size_t before = store().requests();
    std::future<void> many = mails.async_acquire(3, asio::use_future);
    ASSERT_TRUE(somebody_asked(before));
    std::future<void> few = mails.async_acquire(1, asio::use_future);
    (void)mails.available_permits();
    mails.release(2);
    EXPECT_FALSE(mails.try_acquire()) << "it came later than two who wait";
    EXPECT_FALSE(support::is_ready(few));
    mails.release(1);
    soon(std::move(many));
    EXPECT_FALSE(support::is_ready(few));
    mails.release(1);
    soon(std::move(few));
}

TEST_P(Rate, EachClientHasItsOwn) {
    client home = make_client(), other = make_client();
    rate_limiter here{home, "mails"}, there{other, "mails"};
    here.set_rate(for_each_client);
    EXPECT_TRUE(here.try_acquire(2));
    EXPECT_FALSE(here.try_acquire());
    EXPECT_EQ(there.available_permits(), 2);
    EXPECT_TRUE(there.try_acquire(2));
    EXPECT_FALSE(there.try_acquire());
    here.release();
    EXPECT_EQ(here.available_permits(), 1);
    EXPECT_EQ(there.available_permits(), 0);
}

TEST_P(Rate, AnAnswerThatIsLostDrawsOnce) {
    options how;
    store().reach_badly(how);
    client home{std::move(how)};
    rate_limiter mails{home, "mails"};
    store().lose_answer_about("mails");
    mails.set_rate({.permits = 4, .per = 1h});
    store().lose_answer_about("mails");
    mails.acquire();
    EXPECT_EQ(mails.available_permits(), 3);
    store().lose_answer_about("mails");
    EXPECT_TRUE(mails.try_acquire_for(10s, 2));
    EXPECT_EQ(mails.available_permits(), 1);
    store().lose_answer_about("mails");
    mails.release();
    EXPECT_EQ(mails.available_permits(), 2);
    store().lose_answer_about("mails");
    EXPECT_TRUE(mails.erase());
    store().lose_answer_about("mails");
    EXPECT_TRUE(mails.try_set_rate({.permits = 4, .per = 1h}));
}

TEST_P(Rate, WhatACancelledCallDrewIsGivenBack) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 4, .per = 1h});
    std::stop_source stop;
    stop.request_stop(); // so that it comes while the request is under way
    EXPECT_EQ(code_of([&] { mails.acquire(3, stop.get_token()); }), asio::error::operation_aborted);
    EXPECT_TRUE(support::eventually([&] { return mails.available_permits() == 4; }));
}

TEST_P(Rate, ACancelledWaiterEndsAtOnce) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1h});
    mails.acquire();
    std::stop_source stop;
    const std::size_t before = store().requests();
    auto waiting = std::async(std::launch::async,
                              [&] { return code_of([&] { mails.acquire(1, stop.get_token()); }); });
    ASSERT_TRUE(somebody_asked(before));
    stop.request_stop();
    EXPECT_EQ(soon(std::move(waiting)), asio::error::operation_aborted);
    mails.release();
    EXPECT_EQ(mails.available_permits(), 1);
}

TEST_P(Rate, WhatIsNotSetOrMoreThanTheRateIsRefused) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    const auto words = [](auto work) {
        try {
            work();
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), errc::refused);
            return std::string{e.what()};
        }
        return std::string{};
    };
    const auto says = [](const std::string& all, const char* what) {
        return all.find(what) != all.npos;
    };
    const char* const not_set = "the rate limiter is not set: call try_set_rate() first";
    EXPECT_TRUE(says(words([&] { mails.acquire(); }), not_set));
    EXPECT_TRUE(says(words([&] { (void)mails.try_acquire(); }), not_set));
    EXPECT_TRUE(says(words([&] { mails.release(); }), not_set));
    mails.set_rate({.permits = 2, .per = 1h});
    const char* const too_many = "3 permits are more than the rate of 2";
    EXPECT_TRUE(says(words([&] { mails.acquire(3); }), too_many));
    EXPECT_TRUE(says(words([&] { (void)mails.try_acquire_for(10s, 3); }), too_many));
    EXPECT_EQ(code_of([&] { soon(mails.async_acquire(3, asio::use_future)); }), errc::refused);
    EXPECT_EQ(mails.available_permits(), 2);
}

TEST_P(Rate, RefusesWhatCannotBeBeforeAnythingIsSent) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    const auto refused = [&](rate to) {
        return code_of([&] { mails.set_rate(to); }) == errc::invalid_argument &&
               code_of([&] { (void)mails.try_set_rate(to); }) == errc::invalid_argument &&
               code_of([&] { soon(mails.async_set_rate(to, asio::use_future)); }) ==
                   errc::invalid_argument;
    };
    constexpr std::int64_t too_many = rate_limiter::max() + 1;
    const std::size_t sent = requests_during([&] {
        EXPECT_TRUE(refused({.permits = 0, .per = 1s}));
        EXPECT_TRUE(refused({.permits = -1, .per = 1s}));
        EXPECT_TRUE(refused({.permits = too_many, .per = 1s}));
        EXPECT_TRUE(refused({.permits = 1, .per = 0ms}));
        EXPECT_TRUE(refused({.permits = 1, .per = -1s}));
        EXPECT_TRUE(refused({.permits = 1, .per = duration::max()}));
        EXPECT_TRUE(refused({.permits = 1, .per = 2s, .kept = 1s}));
        EXPECT_TRUE(refused({.permits = 1, .per = 2s, .kept = -1s}));
        for (const std::int64_t wrong : {std::int64_t{-1}, too_many}) {
            EXPECT_EQ(code_of([&] { mails.acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { (void)mails.try_acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { mails.release(wrong); }), errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { rate_limiter{home, ""}; }), errc::invalid_argument);
        mails.acquire(0);
        EXPECT_TRUE(mails.try_acquire(0));
        mails.release(0);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Rate, IsKeptByEachUseAndGoesUnused) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    mails.set_rate({.permits = 2, .per = 5s, .kept = 20s});
    home.pass(15s);
    mails.acquire(2);
    home.pass(15s);
    EXPECT_EQ(mails.available_permits(), 2) << "looking at it is no use of it";
    home.pass(5s + 10ms);
    EXPECT_EQ(mails.current_rate(), std::nullopt);
}

/// The client that waits sleeps for the time that it was told under the earlier rate.
TEST_P(Rate, ShorterKeptTimeLetsLimiterExistUntilWaitersAskAgain) {
    for (const duration kept : {duration{5s}, duration::zero()}) {
        SCOPED_TRACE(kept.count());
        moving_client home{store(), {}};
        rate_limiter mails{home.get(), "mails" + std::to_string(kept.count())};
        mails.set_rate({.permits = 1, .per = 5s, .kept = kept});
        mails.acquire();
        EXPECT_FALSE(mails.try_acquire()) << "this request is what a waiter sends first";
        mails.set_rate({.permits = 1, .per = 500ms, .kept = 500ms});
        home.pass(4s + 900ms);
        EXPECT_TRUE(mails.try_acquire());
        home.pass(10s);
        EXPECT_EQ(mails.current_rate(), std::nullopt) << "nobody waits any more";
    }
}

TEST_P(Rate, DrawsThatAreOverDoNotCountAgainUnderALongerInterval) {
    constexpr auto per_client = rate::scope_of::per_client;
    moving_client home{store(), {}};
    client other = make_client();
    rate_limiter mine{home.get(), "mails"}, same{other, "mails"};
    same.set_rate({.permits = 4, .per = 400ms, .scope = per_client});
    mine.acquire(2);
    home.pass(500ms);
    mine.acquire(1);
    same.set_rate({.permits = 5, .per = 1h, .scope = per_client});
    EXPECT_EQ(mine.available_permits(), 4);
}

TEST_P(Rate, ShorterKeptTimeCountsAtOnceIfNobodyWaits) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    mails.set_rate({.permits = 1, .per = 5s, .kept = 1min});
    mails.acquire();
    mails.set_rate({.permits = 1, .per = 2s, .kept = 2s});
    home.pass(2s + 10ms);
    EXPECT_EQ(mails.current_rate(), std::nullopt);
}

/// A release and a new rate send no notification.
TEST_P(Rate, TimedAcquireAsksOnceMoreAtItsDeadline) {
    const std::vector<std::function<void(rate_limiter&)>> changes{
        [](rate_limiter& mails) { mails.release(); },
        [](rate_limiter& mails) { mails.set_rate({.permits = 10, .per = 1s}); }};
    for (const auto& change : changes) {
        client home = make_client(), other = make_client();
        rate_limiter mails{home, "mails"}, same{other, "mails"};
        mails.set_rate({.permits = 1, .per = 1h});
        mails.acquire();
        const std::size_t before = store().requests();
        std::future<bool> waiting = mails.async_try_acquire_for(500ms, 1, asio::use_future);
        ASSERT_TRUE(somebody_asked(before));
        change(same);
        EXPECT_TRUE(soon(std::move(waiting)));
        EXPECT_TRUE(mails.erase());
    }
}

TEST_P(Rate, FailsWhereSomethingElseHasTheName) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    if (!store().put_something_else("mails"))
        GTEST_SKIP() << "this store holds nothing but locks";
    EXPECT_EQ(code_of([&] { (void)mails.try_acquire(); }), errc::refused);
    EXPECT_EQ(code_of([&] { mails.release(); }), errc::refused);
    EXPECT_EQ(code_of([&] { mails.set_rate({.permits = 1, .per = 1s}); }), errc::refused);
    EXPECT_EQ(code_of([&] { (void)mails.current_rate(); }), errc::refused);
}

TEST_P(Rate, IsNoSemaphoreAndNoLock) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    counting_semaphore seats{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1s});
    EXPECT_EQ(code_of([&] { seats.release(); }), errc::refused);
    EXPECT_TRUE(mails.erase());
    holdfast::mutex lock{home, "mails"};
    const std::scoped_lock guard{lock};
    EXPECT_EQ(code_of([&] { mails.set_rate({.permits = 1, .per = 1s}); }), errc::refused);
    EXPECT_EQ(code_of([&] { (void)mails.try_acquire(); }), errc::refused);
}

TEST_P(Rate, AClosedClientEndsItsWaiters) {
    client home = make_client();
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 1, .per = 1h});
    mails.acquire();
    const std::size_t before = store().requests();
    std::future<void> waiting = mails.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_asked(before));
    home.close();
    EXPECT_EQ(code_of([&] { soon(std::move(waiting)); }), errc::closed);
    EXPECT_EQ(code_of([&] { mails.set_rate({.permits = 1, .per = 1h}); }), errc::closed);
    EXPECT_EQ(code_of([&] { soon(mails.async_current_rate(asio::use_future)); }), errc::closed);
}

} // namespace
} // namespace holdfast::conformance
