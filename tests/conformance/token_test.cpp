// SPDX-License-Identifier: Apache-2.0
// A lock on the keys of redis-py, redsync and node-redlock, which tell nobody when they release and
// may have no lease. What it has as a lock is in the tests that run with each kind.
#include "conformance/suite.hpp"
#include "support/thrown.hpp"

#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

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

} // namespace
} // namespace holdfast::conformance
