// SPDX-License-Identifier: Apache-2.0
// RedissonPermitExpirableSemaphoreTest, row by row (README.md), against every store.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::eventually;
using support::soon;

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
    expect_counts(8, 2);
    for (std::size_t i = 8; i < 10; ++i) {
        const bool was_held = mine_->release(ids[i]);
        // A holder by session asks often, and gives back the rest when a part is lost.
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

} // namespace
} // namespace holdfast::conformance
