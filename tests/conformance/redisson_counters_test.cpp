// SPDX-License-Identifier: Apache-2.0
// RedissonSemaphoreTest, row by row (README.md), against every store.
#include "conformance/suite.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

using support::soon;

class RedissonSemaphore : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(make_client());
        other_.emplace(make_client());
        mine_.emplace(*home_, "seats");
        theirs_.emplace(*other_, "seats");
    }

    std::future<void> waiting_for(std::int64_t permits) {
        return theirs_->async_acquire(permits, asio::use_future);
    }

    /// Threads of several clients count under one permit, with nothing else to guard the number.
    void count_exactly(int clients, int threads, int rounds) {
        std::deque<client> homes;
        for (int i = 0; i < clients; ++i)
            homes.push_back(make_client());
        ASSERT_TRUE(mine_->try_set_permits(1));
        int number = 0;
        {
            std::vector<std::jthread> all;
            for (int i = 0; i < threads; ++i)
                all.emplace_back([&, i] {
                    counting_semaphore seats{homes[static_cast<std::size_t>(i % clients)], "seats"};
                    for (int round = 0; round < rounds; ++round) {
                        seats.acquire();
                        ++number;
                        seats.release();
                    }
                });
        }
        EXPECT_EQ(number, threads * rounds);
        EXPECT_TRUE(come_to(1));
    }

    /// Waits until this number of permits is free. If a poll took permits for a caller that had
    /// been served in the meantime, the client gives them back in the background. So all permits
    /// are free soon after the last release, but not at once.
    bool come_to(std::int64_t permits) {
        return support::eventually([&] { return mine_->available_permits() == permits; });
    }

    std::optional<client> home_, other_;
    std::optional<counting_semaphore> mine_, theirs_; ///< one semaphore
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonSemaphore, counter_kind::semaphore);

TEST_P(RedissonSemaphore, AWaiterForTwoIsNotServedByOne) {
    std::future<void> waits = waiting_for(2);
    mine_->release();
    EXPECT_EQ(waits.wait_for(300ms), std::future_status::timeout);
    mine_->add_permits(1);
    soon(std::move(waits));
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, NoPermitsAreHadAndGivenBackAtOnce) {
    EXPECT_TRUE(mine_->try_acquire(0));
    mine_->release(0);
    EXPECT_EQ(mine_->available_permits(), 0);
    EXPECT_EQ(store().counter("seats"), std::nullopt);
}

TEST_P(RedissonSemaphore, ReleasesMakeIt) {
    mine_->release();
    mine_->release();
    mine_->acquire(2);
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, PermitsAreSetOnceAndForAWhile) {
    EXPECT_TRUE(mine_->try_set_permits(10));
    EXPECT_FALSE(mine_->try_set_permits(15));
    EXPECT_EQ(mine_->available_permits(), 10);
    EXPECT_TRUE(mine_->erase());
    EXPECT_TRUE(mine_->try_set_permits(10, 200ms));
    EXPECT_TRUE(support::eventually([&] { return store().counter("seats") == std::nullopt; }));
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, PermitsAreAddedAndTakenAway) {
    EXPECT_TRUE(mine_->try_set_permits(10));
    mine_->acquire(10);
    EXPECT_EQ(mine_->available_permits(), 0);
    mine_->add_permits(4);
    EXPECT_EQ(mine_->available_permits(), 4);
    mine_->release(10);
    EXPECT_EQ(mine_->available_permits(), 14);
    mine_->add_permits(-5);
    EXPECT_EQ(mine_->available_permits(), 9);
}

TEST_P(RedissonSemaphore, FewerThanNoneAreMadeUpFor) {
    mine_->add_permits(-5);
    EXPECT_EQ(mine_->available_permits(), -5);
    mine_->release(10);
    EXPECT_EQ(mine_->available_permits(), 5);
    mine_->acquire(5);
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, AReleaseServesWhoWaits) {
    EXPECT_TRUE(mine_->try_set_permits(1));
    mine_->acquire();
    std::future<void> waits = waiting_for(1);
    EXPECT_EQ(waits.wait_for(300ms), std::future_status::timeout);
    mine_->release();
    soon(std::move(waits));
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, WhoWaitsForManyIsServedByTwoReleases) {
    EXPECT_TRUE(mine_->try_set_permits(5));
    mine_->acquire(3);
    EXPECT_FALSE(theirs_->try_acquire(4));
    std::future<void> waits = waiting_for(4);
    std::future<bool> tries =
        theirs_->async_try_acquire_for(support::far_too_long, 1, asio::use_future);
    mine_->release();
    mine_->release();
    soon(std::move(waits));
    EXPECT_EQ(tries.wait_for(50ms), std::future_status::timeout);
    mine_->release();
    EXPECT_TRUE(soon(std::move(tries)));
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, AReleaseWithoutPermitsMakesOne) {
    mine_->release();
    EXPECT_EQ(mine_->available_permits(), 1);
}

TEST_P(RedissonSemaphore, IsDrained) {
    EXPECT_EQ(mine_->drain_permits(), 0);
    EXPECT_TRUE(mine_->try_set_permits(10));
    mine_->acquire(3);
    EXPECT_EQ(mine_->drain_permits(), 7);
    EXPECT_EQ(mine_->available_permits(), 0);
}

TEST_P(RedissonSemaphore, CountsWhatIsTakenAndGivenBack) {
    EXPECT_TRUE(mine_->try_set_permits(10));
    mine_->acquire();
    EXPECT_EQ(mine_->available_permits(), 9);
    mine_->release();
    EXPECT_EQ(mine_->available_permits(), 10);
    mine_->acquire(5);
    EXPECT_EQ(mine_->available_permits(), 5);
    mine_->release(5);
    EXPECT_EQ(mine_->available_permits(), 10);
}

TEST_P(RedissonSemaphore, IsReleasedOnlyIfItIsThere) {
    EXPECT_FALSE(mine_->release_if_exists());
    EXPECT_TRUE(mine_->try_set_permits(1));
    EXPECT_TRUE(mine_->release_if_exists());
    EXPECT_EQ(mine_->available_permits(), 2);
}

TEST_P(RedissonSemaphore, ThreadsOfOneClientCountExactly) {
    count_exactly(1, 15, 10);
}

TEST_P(RedissonSemaphore, ThreadsOfSeveralClientsCountExactly) {
    count_exactly(4, 16, 10);
}

TEST_P(RedissonSemaphore, OneOrAllOfTheMostThatCanBeAreTakenAndNothingOverflows) {
    constexpr std::int64_t all_of_them = counting_semaphore::max();
    ASSERT_TRUE(mine_->try_set_permits(all_of_them));
    std::atomic<int> done = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&, i] {
                counting_semaphore& seats = i % 2 == 0 ? *mine_ : *theirs_;
                const std::int64_t permits = i % 4 == 0 ? all_of_them : 1;
                for (int round = 0; round < 5; ++round) {
                    seats.acquire(permits);
                    ++done;
                    seats.release(permits);
                }
            });
    }
    EXPECT_EQ(done, 40);
    EXPECT_TRUE(come_to(all_of_them));
}

// RedissonPermitExpirableSemaphoreTest, row by row (README.md), against every store.

using support::eventually;

class RedissonPermits : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(make_client());
        other_.emplace(make_client());
        mine_.emplace(*home_, "seats");
        theirs_.emplace(*other_, "seats");
    }

    std::future<lease> waiting_for(std::uint32_t permits) {
        return theirs_->async_acquire(permits, asio::use_future);
    }
    void expect_counts(std::int64_t available, std::int64_t acquired) {
        EXPECT_EQ(mine_->available_permits(), available);
        EXPECT_EQ(mine_->acquired_permits(), acquired);
    }
    static error_code given_back(lease& held) {
        error_code ec;
        held.unlock(ec);
        return ec;
    }

    /// Threads of several clients count under one permit, with nothing else to guard the number.
    void count_exactly(int clients, int threads, int rounds) {
        std::deque<client> homes;
        for (int i = 0; i < clients; ++i)
            homes.push_back(make_client());
        ASSERT_TRUE(mine_->try_set_permits(1));
        int number = 0;
        {
            std::vector<std::jthread> all;
            for (int i = 0; i < threads; ++i)
                all.emplace_back([&, i] {
                    leased_semaphore seats{homes[static_cast<std::size_t>(i % clients)], "seats"};
                    for (int round = 0; round < rounds; ++round) {
                        lease held = seats.acquire();
                        ++number;
                        EXPECT_EQ(given_back(held), error_code{});
                    }
                });
        }
        EXPECT_EQ(number, threads * rounds);
        EXPECT_TRUE(eventually([&] { return mine_->available_permits() == 1; }));
    }

    std::optional<client> home_, other_;
    std::optional<leased_semaphore> mine_, theirs_; ///< one semaphore
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonPermits, counter_kind::permits);

TEST_P(RedissonPermits, ALeaseIsSetUntilItEnds) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client moved{store(), {}};
    leased_semaphore seats{moved.get(), "seats"};
    ASSERT_TRUE(seats.try_set_permits(1));
    EXPECT_FALSE(seats.set_lease(std::string(32, '1'), lease_time{1s}));
    const lease held = seats.acquire(lease_time{1s});
    const std::string id = held.permit_ids().front();
    EXPECT_TRUE(seats.set_lease(id, lease_time{1min}));
    ASSERT_TRUE(eventually([&] { return held.remaining() > 30s; })) << "its holder learns of it";
    moved.pass(59s);
    EXPECT_EQ(seats.available_permits(), 0);
    moved.pass(1s + 10ms);
    EXPECT_EQ(seats.available_permits(), 1);
    EXPECT_FALSE(seats.set_lease(id, lease_time{1min}));
}

TEST_P(RedissonPermits, WithoutOneThereAreNone) {
    expect_counts(0, 0);
}

TEST_P(RedissonPermits, AreCountedWhileTheyAreHeldAndAfterTheirEnd) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client moved{store(), {}};
    leased_semaphore seats{moved.get(), "seats"};
    ASSERT_TRUE(seats.try_set_permits(2));
    const lease first = seats.acquire(lease_time{1s}), second = seats.acquire(lease_time{1s});
    EXPECT_FALSE(seats.try_acquire(lease_time{1s}));
    EXPECT_EQ(seats.available_permits(), 0);
    EXPECT_EQ(seats.acquired_permits(), 2);
    moved.pass(1s + 10ms);
    EXPECT_EQ(seats.available_permits(), 2);
    EXPECT_EQ(seats.acquired_permits(), 0);
    EXPECT_TRUE(seats.try_acquire(2));
}

TEST_P(RedissonPermits, AWaiterIsServedWhenALeaseEndsAndItsIdIsWorthNothingThen) {
    ASSERT_TRUE(mine_->try_set_permits(1));
    const lease ends = theirs_->acquire(lease_time{300ms});
    const lease had = mine_->acquire();
    EXPECT_TRUE(had.owns_lock());
    EXPECT_FALSE(ends.owns_lock());
    EXPECT_FALSE(theirs_->release(ends.permit_ids().front()));
    expect_counts(0, 1);
}

TEST_P(RedissonPermits, AreSetOnce) {
    EXPECT_TRUE(mine_->try_set_permits(10));
    EXPECT_FALSE(theirs_->try_set_permits(15));
    expect_counts(10, 0);
}

TEST_P(RedissonPermits, AreSetUpAndDownBesideTheHeld) {
    HOLDFAST_NEEDS(changes_permits);
    mine_->set_permits(5);
    expect_counts(5, 0);
    mine_->set_permits(10);
    expect_counts(10, 0);
    mine_->set_permits(10);
    expect_counts(10, 0);
    lease held = theirs_->acquire(3);
    mine_->set_permits(5);
    expect_counts(2, 3);
    mine_->set_permits(2);
    expect_counts(-1, 3);
    EXPECT_EQ(given_back(held), error_code{});
    expect_counts(2, 0);
}

TEST_P(RedissonPermits, AreAddedAndTakenAway) {
    HOLDFAST_NEEDS(changes_permits);
    ASSERT_TRUE(mine_->try_set_permits(10));
    for (const auto& [more, then] : {std::pair{5, 15}, std::pair{-10, 5}, std::pair{-10, -5}}) {
        mine_->add_permits(more);
        EXPECT_EQ(mine_->available_permits(), then);
    }
}

TEST_P(RedissonPermits, AReleaseServesWhoWaits) {
    HOLDFAST_NEEDS(changes_permits);
    for (const std::uint32_t many : {1U, 3U}) {
        mine_->set_permits(many);
        lease held = mine_->acquire(many);
        std::future<lease> waits = waiting_for(many);
        EXPECT_EQ(waits.wait_for(100ms), std::future_status::timeout);
        EXPECT_EQ(given_back(held), error_code{});
        lease had = soon(std::move(waits));
        EXPECT_EQ(had.permit_ids().size(), many);
        for (const std::string& id : had.permit_ids())
            EXPECT_EQ(id.size(), 32u);
        expect_counts(0, many);
        EXPECT_EQ(given_back(had), error_code{});
    }
}

TEST_P(RedissonPermits, ATimedTryIsServedToo) {
    ASSERT_TRUE(mine_->try_set_permits(2));
    lease held = mine_->acquire(2);
    EXPECT_FALSE(theirs_->try_acquire_for(50ms));
    auto tries = theirs_->async_try_acquire_for(support::far_too_long, 2, asio::use_future);
    EXPECT_EQ(given_back(held), error_code{});
    EXPECT_TRUE(soon(std::move(tries)));
}

TEST_P(RedissonPermits, AnUnknownIdIsFalse) {
    EXPECT_FALSE(mine_->release("1234567890abcdef1234567890abcdef"));
    expect_counts(0, 0);
}

TEST_P(RedissonPermits, ThreadsOfOneClientCountExactly) {
    count_exactly(1, 15, 10);
}

TEST_P(RedissonPermits, ThreadsOfSeveralClientsCountExactly) {
    count_exactly(4, 16, scaled(10, 100));
}

TEST_P(RedissonPermits, ManyAreHadAndGivenBackAsynchronously) {
    ASSERT_TRUE(mine_->try_set_permits(10));
    std::vector<std::future<lease>> asked;
    for (int i = 0; i < 5; ++i)
        asked.push_back(mine_->async_acquire(lease_time{1min}, 2, asio::use_future));
    std::vector<lease> held;
    for (std::future<lease>& each : asked)
        held.push_back(soon(std::move(each)));
    expect_counts(0, 10);
    for (lease& each : held)
        soon(each.async_unlock(asio::use_future));
    expect_counts(10, 0);
}

TEST_P(RedissonPermits, APartIsGivenBackByItsIds) {
    ASSERT_TRUE(mine_->try_set_permits(10));
    const lease held = theirs_->acquire(lease_time{1min}, 10);
    const std::vector<std::string> ids = held.permit_ids();
    for (std::size_t i = 0; i < 8; ++i)
        EXPECT_TRUE(mine_->release(ids[i]));
    // A holder by session asks often, and gives back the rest when a part is lost.
    if (store().leases_by_session())
        EXPECT_THAT(mine_->acquired_permits(), ::testing::AnyOf(2, 0));
    else
        expect_counts(8, 2);
    for (std::size_t i = 8; i < 10; ++i) {
        const bool was_held = mine_->release(ids[i]);
        EXPECT_TRUE(was_held || (store().leases_by_session() && !held.owns_lock()));
    }
    for (const std::string& id : ids)
        EXPECT_FALSE(mine_->release(id)) << "again";
    expect_counts(10, 0);
}

TEST_P(RedissonPermits, ThoseThatEndedAreBackAndReleasingThemGivesNothing) {
    moving_client moved{store(), {}};
    leased_semaphore seats{moved.get(), "seats"};
    ASSERT_TRUE(seats.try_set_permits(10));
    lease over = seats.acquire(lease_time{100ms}, 6), held = seats.acquire(lease_time{1h});
    moved.pass(110ms);
    if (store().leases_by_session()) { // its own client takes them back, soon
        EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 9; }));
    }
    EXPECT_EQ(seats.available_permits(), 9);
    EXPECT_EQ(given_back(over), errc::lease_lost);
    EXPECT_EQ(seats.available_permits(), 9);
    EXPECT_EQ(given_back(held), error_code{});
    EXPECT_EQ(seats.available_permits(), 10);
}

TEST_P(RedissonPermits, TwoWhoNeedAllOrSomeBothHaveThem) {
    ASSERT_TRUE(mine_->try_set_permits(2));
    for (const std::uint32_t first : {2U, 1U}) {
        std::atomic<int> had = 0;
        const auto work = [&](leased_semaphore& seats, std::uint32_t permits) {
            for (int round = 0; round < 5; ++round)
                if (std::optional<lease> held =
                        seats.try_acquire_for(support::far_too_long, permits))
                    ++had;
        };
        {
            std::jthread one{work, std::ref(*mine_), first};
            std::jthread two{work, std::ref(*theirs_), 2U};
        }
        EXPECT_EQ(had, 10);
    }
    EXPECT_TRUE(eventually([&] { return mine_->available_permits() == 2; }));
}

// RedissonCountDownLatchTest and RedissonCountDownLatchConcurrentTest, row by row (README.md),
// against every store.

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

TEST_P(RedissonCountDownLatch, ATimedWaitEndsWithItsTimeout) {
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

// RedissonRateLimiterTest, row by row (README.md), against every store: what rate_test.cpp has not.

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

TEST_P(RedissonRateLimiter, WithoutTimeoutNobodyWaitsAndTheIntervalBringsAllBack) {
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

TEST_P(RedissonRateLimiter, ATryEndsWithItsTimeout) {
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
