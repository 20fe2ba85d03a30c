// SPDX-License-Identifier: Apache-2.0
// Fencing tokens increase over all clients, hand-offs and forced releases. Dated tokens also
// increase after the server has lost its data. The tests that run with every kind of lock cover the
// other properties of a fenced lock.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

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

TEST_P(Fenced, NextOwnersHaveTokensOfTheirOwnWithoutAMessage) {
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

// A lock on the keys of redis-py, redsync and node-redlock, which tell nobody when they release and
// may have no lease. What it has as a lock is in the tests that run with each kind.

class Token : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            store().keep(lock_kind::token);
    }

    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Token, lock_kind::token);

TEST_P(Token, WhatAnotherProgramHoldsIsBusyUntilItsLeaseEnds) {
    moving_client home{store(), {}};
    token_mutex lock{home.get(), "lock"};
    store().stranger_sets_token("lock", 20s);
    EXPECT_FALSE(lock.try_lock());
    EXPECT_TRUE(lock.is_locked());
    EXPECT_GT(lock.remaining_lease().value(), 10s);
    EXPECT_EQ(unlocked(lock), errc::not_owner);
    EXPECT_FALSE(lock.try_lock());
    home.pass(20s + 10ms);
    EXPECT_FALSE(lock.is_locked());
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(unlocked(lock));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Token, WhatHasNoLeaseIsBusyWithoutAnEndAndCanBeForced) {
    client home = make_client();
    token_mutex lock{home, "lock"};
    store().stranger_sets_token("lock", std::nullopt);
    EXPECT_FALSE(lock.try_lock_for(50ms));
    EXPECT_EQ(lock.remaining_lease(), duration::max());
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_FALSE(lock.force_unlock());
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(unlocked(lock));
}

TEST_P(Token, BehindAnotherProgramAWaiterFindsByItselfThatItIsFree) {
    client home = make_client({.poll_bound = hardly_ever});
    token_mutex lock{home, "lock"};
    for (const std::optional<duration> its : {std::optional<duration>{1h}, {}}) {
        store().stranger_sets_token("lock", its);
        std::future<lease> waiting = lock.async_lock(asio::use_future);
        ASSERT_TRUE(somebody_listens());
        (void)lock.is_locked(); // behind its second look
        store().evict("lock");  // and nobody is told
        support::soon(std::move(waiting)).unlock();
        ASSERT_TRUE(support::eventually([&] { return store().listeners() == 0; }));
    }
}

TEST_P(Token, BehindOneOfOursAWaiterIsWoken) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    token_mutex held{other, "lock"}, wanted{home, "lock"};
    held.lock(lease_time{1h});
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.is_locked(); // behind its second look
    EXPECT_FALSE(support::is_ready(waiting));
    EXPECT_FALSE(unlocked(held));
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Token, AForcedUnlockWakesWhoWaitsAndReachesTheHolder) {
    client home = make_client(), other = make_client({.poll_bound = hardly_ever}),
           third = make_client();
    token_mutex held{home, "lock"}, wanted{other, "lock"}, forced{third, "lock"};
    held.lock();
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.is_locked();
    EXPECT_TRUE(forced.force_unlock());
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
    EXPECT_EQ(unlocked(held), errc::lease_lost);
}

TEST_P(Token, WaitingUntilItIsFreeHearsOurReleasesAndSeesOthers) {
    client home = make_client(), other = make_client({.poll_bound = hardly_ever});
    token_mutex lock{home, "lock"};
    lock.lock();
    EXPECT_FALSE(other.wait_free("lock", 0ms));
    auto free = other.async_wait_free("lock", duration::max(), asio::use_future);
    ASSERT_TRUE(somebody_listens());
    EXPECT_FALSE(unlocked(lock));
    EXPECT_TRUE(support::soon(std::move(free)));
    store().stranger_sets_token("lock", std::nullopt);
    free = other.async_wait_free("lock", duration::max(), asio::use_future);
    ASSERT_TRUE(somebody_listens());
    store().evict("lock");
    EXPECT_TRUE(support::soon(std::move(free)));
}

TEST_P(Token, OtherLocksOfItsNameAreRefusedAndItIsBesideTheirs) {
    client home = make_client(), another = make_client();
    token_mutex token{home, "lock"};
    holdfast::mutex plain{another, "lock"};
    fenced_mutex fenced{another, "lock"};
    spin_mutex spin{another, "lock"};
    fair_mutex fair{another, "lock"};
    shared_mutex shared{another, "lock"};
    const std::initializer_list<basic_mutex*> others{&plain, &fenced, &spin,
                                                     &fair,  &shared, &shared.shared()};
    token.lock();
    for (basic_mutex* const each : others) {
        const support::thrown why = support::thrown_by([&] { (void)each->try_lock(); });
        EXPECT_EQ(why.code, make_error_code(store_errc::wrong_type));
        EXPECT_EQ(why.code, errc::refused);
    }
    EXPECT_FALSE(unlocked(token));
    for (basic_mutex* const each : others) {
        each->lock();
        const support::thrown why = support::thrown_by([&] { (void)token.try_lock(); });
        EXPECT_EQ(why.code, make_error_code(store_errc::wrong_type));
        EXPECT_FALSE(unlocked(*each));
    }
    EXPECT_TRUE(token.try_lock());
    EXPECT_FALSE(unlocked(token));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Token, AHoldThatAnotherProgramTookOverIsLostAndLeftToIt) {
    client home = make_client();
    token_mutex lock{home, "lock"};
    lock.lock();
    store().stranger_sets_token("lock", 1h);
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
    EXPECT_EQ(store().held(), 1u);
    EXPECT_TRUE(lock.is_locked());
}

TEST_P(Token, ReentryIsCountedWhereItIsWanted) {
    client home = make_client();
    token_mutex once{home, "once"}, lock{home, "lock", {.again = recursion::counted}};
    once.lock();
    EXPECT_EQ(support::thrown_by([&] { once.lock(); }).code, errc::already_held);
    EXPECT_FALSE(unlocked(once));
    const lease outer = support::soon(lock.async_lock(asio::use_future));
    const lease inner = support::soon(lock.async_lock(outer, asio::use_future));
    EXPECT_TRUE(inner.owns_lock());
    EXPECT_EQ(store().held(), 1u);
}

// A spin lock's waiters poll: they listen to nobody, and its releases tell nobody. What it has as a
// lock is in the tests that run with each kind; when it polls, in tests/unit/sync/waiting_test.cpp.

class Spin : public suite {
protected:
    bool asks_on() {
        const std::size_t before = store().requests();
        return support::eventually([&] { return store().requests() > before + 2; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Spin, lock_kind::spin);

TEST_P(Spin, AWaiterListensToNobodyAndFindsAReleaseByItself) {
    client home = make_client({.poll_bound = hardly_ever});
    client other = make_client({.poll_bound = hardly_ever});
    spin_mutex held{home, "lock", {.polls = frequent}}, wanted{other, "lock", {.polls = frequent}};
    held.lock();
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    EXPECT_TRUE(asks_on());
    EXPECT_EQ(store().listeners(), 0u);
    EXPECT_FALSE(support::is_ready(waiting));
    EXPECT_FALSE(unlocked(held));
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
    EXPECT_EQ(store().listeners(), 0u);
}

TEST_P(Spin, AReleaseWakesNoWaiterOfAMutex) {
    moving_client home{store(), {}}; // which asks after five seconds, and its clock stands still
    client other = make_client();
    spin_mutex held{other, "lock"};
    holdfast::mutex wanted{home.get(), "lock"}, shelf{other, "shelf"};
    held.lock(lease_time{1h});
    EXPECT_FALSE(wanted.try_lock()); // so that the server knows the script
    const std::size_t asked = store().requests();
    std::future<lease> waiting = wanted.async_lock(asio::use_future);
    // A waiter asks, subscribes, asks again, and sleeps.
    ASSERT_TRUE(support::eventually(
        [&] { return store().listeners() > 0 && store().requests() >= asked + 2; }));
    EXPECT_FALSE(unlocked(held));
    EXPECT_EQ(requests_during([&] {
                  for (int i = 0; i < 20; ++i)
                      (void)shelf.is_locked(); // whatever a waiter may do, it has time
              }),
              20u);
    EXPECT_FALSE(support::is_ready(waiting));
    home.pass(5s);
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Spin, ItExcludesAMutexOfItsName) {
    client home = make_client(), other = make_client();
    spin_mutex spin{home, "lock"};
    holdfast::mutex plain{other, "lock"};
    fenced_mutex fenced{other, "lock"};
    spin.lock();
    EXPECT_FALSE(plain.try_lock());
    EXPECT_FALSE(fenced.try_lock());
    EXPECT_FALSE(unlocked(spin));
    EXPECT_TRUE(plain.try_lock());
    EXPECT_FALSE(spin.try_lock());
    EXPECT_FALSE(unlocked(plain));
    EXPECT_TRUE(fenced.try_lock());
    EXPECT_FALSE(spin.try_lock_for(20ms));
    EXPECT_FALSE(unlocked(fenced));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Spin, OneWaiterOfAClientPollsForAll) {
    client home = make_client();
    store().stranger_takes("lock", 1h);
    spin_mutex lock{home, "lock", {.polls = {1min, 1min}}};
    std::vector<std::future<lease>> waiting;
    waiting.push_back(lock.async_lock(asio::use_future));
    ASSERT_TRUE(support::eventually([&] { return store().requests() > 0; }));
    (void)lock.is_locked(); // on the same way, so it comes behind that
    EXPECT_EQ(requests_during([&] {
                  for (int i = 0; i < 20; ++i)
                      waiting.push_back(lock.async_lock(asio::use_future));
                  (void)lock.is_locked();
              }),
              1u);
    home.close();
    for (std::future<lease>& each : waiting)
        EXPECT_THROW(support::soon(std::move(each)), boost::system::system_error);
}

} // namespace
} // namespace holdfast::conformance
