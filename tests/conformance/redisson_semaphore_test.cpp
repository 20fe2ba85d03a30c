// SPDX-License-Identifier: Apache-2.0
// RedissonSemaphoreTest, row by row (README.md), against every store.
#include "conformance/suite.hpp"

#include <holdfast/counting_semaphore.hpp>

#include <boost/asio/use_future.hpp>

#include <deque>
#include <future>
#include <thread>
#include <vector>

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

    /// What a look took for a caller who had been served meanwhile is given back behind its back,
    /// so all that were there are to be had soon after the last release, not with it.
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

} // namespace
} // namespace holdfast::conformance
