// SPDX-License-Identifier: Apache-2.0
// Fencing tokens grow: over clients, hand-offs and forced releases, and, dated, over a server that
// lost its memory. What a fenced lock has as a lock is in the tests that run with each kind.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <thread>
#include <vector>

namespace holdfast::conformance {
namespace {

class Fenced : public suite {
protected:
    /// Takes and releases it.
    static std::uint64_t token_of(fenced_mutex& lock) {
        lock.lock();
        const std::uint64_t token = lock.fencing_token();
        EXPECT_FALSE(unlocked(lock));
        return token;
    }
};
HOLDFAST_ON_EACH_STORE(Fenced);

TEST_P(Fenced, TokensGrowOverClientsAndVerbs) { // RedissonFencedLockTest.testTokenIncrease
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client(), other = make_client();
    fenced_mutex first{home, "lock"}, second{other, "lock"};
    EXPECT_EQ(first.last_token(), 0u);
    EXPECT_EQ(token_of(first), 1u);
    EXPECT_EQ(token_of(second), 2u);
    first.lock(lease_time{10s});
    EXPECT_EQ(first.fencing_token(), 3u);
    EXPECT_EQ(second.last_token(), 3u);
    EXPECT_FALSE(unlocked(first));
    EXPECT_TRUE(second.try_lock_for(10s));
    EXPECT_EQ(second.fencing_token(), 4u);
    EXPECT_FALSE(unlocked(second));
    const lease held = support::soon(first.async_lock(asio::use_future));
    EXPECT_EQ(held.fencing_token(), 5u);
    EXPECT_EQ(first.fencing_token(), 0u) << "that of a lease is no thread's";
    EXPECT_EQ(support::soon(second.async_last_token(asio::use_future)), 5u);
}

TEST_P(Fenced, TokensGrowInTheOrderInWhichTheLockWasHeld) {
    client home = make_client(), other = make_client();
    std::vector<std::uint64_t> in_order;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < 8; ++i)
            all.emplace_back([&, i] {
                fenced_mutex lock{i % 2 == 0 ? home : other, "lock"};
                for (int round = 0; round < scaled(20, 1000); ++round) {
                    lock.lock();
                    in_order.push_back(lock.fencing_token());
                    EXPECT_FALSE(unlocked(lock));
                }
            });
    }
    EXPECT_TRUE(std::ranges::is_sorted(in_order, std::less_equal{})) << "some were given twice";
    if (store().counts_tokens()) {
        EXPECT_GE(fenced_mutex(home, "lock").last_token(), in_order.back());
    }
}

TEST_P(Fenced, HeirsHaveTokensOfTheirOwnWithoutAMessage) {
    client home = make_client({.hand_off = {100, 10min}});
    fenced_mutex lock{home, "lock"};
    lock.lock();
    std::vector<std::future<lease>> waiting;
    for (int i = 0; i < 5; ++i)
        waiting.push_back(lock.async_lock(asio::use_future));
    std::uint64_t last = lock.fencing_token();
    EXPECT_FALSE(unlocked(lock));
    for (std::future<lease>& each : waiting) {
        const lease held = support::soon(std::move(each));
        EXPECT_GT(held.fencing_token(), last);
        last = held.fencing_token();
    }
    client other = make_client();
    fenced_mutex behind{other, "lock"};
    EXPECT_TRUE(behind.try_lock_for(support::far_too_long));
    EXPECT_GT(behind.fencing_token(), last);
    EXPECT_FALSE(unlocked(behind));
}

TEST_P(Fenced, AForcedReleaseLeavesTheTokens) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client(), other = make_client();
    fenced_mutex first{home, "lock"}, second{other, "lock"};
    first.lock();
    EXPECT_TRUE(second.force_unlock());
    EXPECT_EQ(second.last_token(), 1u);
    EXPECT_EQ(token_of(second), 2u);
    EXPECT_EQ(unlocked(first), errc::lease_lost);
}

TEST_P(Fenced, ALostHoldStillHasItsToken) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client();
    fenced_mutex lock{home, "lock"};
    lock.lock();
    store().evict("lock");
    EXPECT_TRUE(mutex(home, "lock").force_unlock() || !lock.is_locked());
    EXPECT_EQ(lock.fencing_token(), 1u) << "the resource decides";
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
    EXPECT_EQ(lock.fencing_token(), 0u);
}

TEST_P(Fenced, ReentryHasTheTokenOfItsHold) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client();
    fenced_mutex lock{home, "lock", {.again = recursion::counted}};
    lock.lock();
    EXPECT_TRUE(lock.try_lock(lease_time{1min}));
    EXPECT_EQ(lock.fencing_token(), 1u);
    EXPECT_EQ(lock.last_token(), 1u);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_EQ(lock.fencing_token(), 1u);
    EXPECT_FALSE(unlocked(lock));
    lease outer = support::soon(lock.async_lock(asio::use_future));
    const lease inner = support::soon(lock.async_lock(outer, asio::use_future));
    EXPECT_EQ(inner.fencing_token(), outer.fencing_token());
}

TEST_P(Fenced, ItExcludesAMutexOfItsNameWhichHasNoToken) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client(), other = make_client();
    fenced_mutex with{home, "lock"};
    holdfast::mutex without{other, "lock"};
    with.lock();
    EXPECT_FALSE(without.try_lock());
    EXPECT_FALSE(unlocked(with));
    {
        const lease held = support::soon(without.async_lock(asio::use_future));
        EXPECT_EQ(held.fencing_token(), 0u);
        EXPECT_FALSE(with.try_lock());
        EXPECT_EQ(with.last_token(), 1u);
    }
    EXPECT_TRUE(with.try_lock_for(support::far_too_long));
    EXPECT_EQ(with.fencing_token(), 2u);
    EXPECT_FALSE(unlocked(with));
}

TEST_P(Fenced, HoldsOfSeveralKindsAreRenewedInOneRequest) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::spin);
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {.lease_time = 30s}};
    holdfast::mutex plain{home.get(), "plain"};
    spin_mutex spin{home.get(), "spin"};
    fenced_mutex fenced{home.get(), "fenced"};
    const lease one = support::soon(plain.async_lock(asio::use_future));
    const lease two = support::soon(spin.async_lock(asio::use_future));
    const lease three = support::soon(fenced.async_lock(asio::use_future));
    std::size_t questions = 0;
    const std::size_t all = requests_during([&] {
        home.pass(10s + 1ms);
        EXPECT_TRUE(support::eventually([&] {
            ++questions;
            return fenced.remaining_lease().value() > 25s;
        }));
    });
    EXPECT_EQ(all - questions, 1u);
    for (const lease* each : {&one, &two, &three})
        EXPECT_GT(each->remaining(), 25s);
    EXPECT_EQ(three.fencing_token(), 1u);
}

TEST_P(Fenced, CountedTokensBeginAgainOnAServerThatForgot) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client();
    fenced_mutex lock{home, "lock"};
    EXPECT_EQ(token_of(lock), 1u);
    EXPECT_EQ(token_of(lock), 2u);
    store().restart_empty();
    EXPECT_EQ(token_of(lock), 1u);
}

TEST_P(Fenced, DatedTokensGrowOverAServerThatForgot) {
    HOLDFAST_NEEDS(moves_its_clock);
    client home = make_client(), other = make_client();
    fenced_mutex first{home, "lock", {.numbers = fencing::dated}};
    fenced_mutex second{other, "lock", {.numbers = fencing::dated}};
    const std::uint64_t before = token_of(first), next = token_of(second);
    EXPECT_GT(next, before);
    store().restart_empty();
    store().pass(1ms); // as a restart takes
    const std::uint64_t after = token_of(second);
    EXPECT_GT(after, next);
    EXPECT_GT(token_of(first), after);
}

TEST_P(Fenced, ALostAnswerCostsNoToken) {
    HOLDFAST_NEEDS(counts_tokens);
    options how{.poll_bound = 25ms};
    store().reach_badly(how);
    client home{std::move(how)};
    fenced_mutex lock{home, "lock"};
    EXPECT_EQ(token_of(lock), 1u);
    store().lose_answer_about("lock");
    EXPECT_EQ(token_of(lock), 2u);
    EXPECT_EQ(lock.last_token(), 2u);
}

} // namespace
} // namespace holdfast::conformance
