// SPDX-License-Identifier: Apache-2.0
// Contract of a store with required replicas, which must confirm every grant.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <holdfast/counting_semaphore.hpp>

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

using support::code_of;
using support::eventually;
using support::soon;

class Replicas : public suite {
protected:
    void SetUp() override {
        suite::SetUp();
        if (!IsSkipped() && !HasFatalFailure() && !store().replicate())
            GTEST_SKIP() << "this store has no replicas here";
    }

    client requiring(unsigned replicas, options how = {}) {
        how.required_replicas = replicas;
        return make_client(std::move(how));
    }
    bool nothing_is_held() {
        return eventually([this] { return store().held() == 0; });
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Replicas, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Replicas, AGrantIsConfirmedAndReleased) {
    client home = requiring(1);
    mutex lock{home, "lock"};
    for (int i = 0; i < 3; ++i) {
        lock.lock();
        EXPECT_EQ(store().held(), 1u);
        EXPECT_FALSE(unlocked(lock));
    }
}

TEST_P(Replicas, MoreThanThereAreAreNeverConfirmed) {
    client home = requiring(2, {.lease_time = 6s});
    mutex lock{home, "lock"};
    EXPECT_EQ(code_of([&] { (void)lock.try_lock(); }), store_errc::not_replicated);
    EXPECT_TRUE(nothing_is_held());
}

TEST_P(Replicas, OneAttemptThatIsNotConfirmedTakesNothing) {
    client home = requiring(1, {.lease_time = 6s});
    mutex lock{home, "lock"};
    store().cut_replica();
    EXPECT_EQ(code_of([&] { (void)lock.try_lock(); }), store_errc::not_replicated);
    EXPECT_FALSE(lock.is_held_by_this_thread());
    EXPECT_TRUE(nothing_is_held());
}

TEST_P(Replicas, AWaiterHasItWhenTheReplicaIsBack) {
    client home = requiring(1, {.lease_time = 6s});
    mutex lock{home, "lock"};
    store().cut_replica();
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return store().requests() >= 2; }));
    store().mend_replica();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(Replicas, AHoldThatIsNotConfirmedAnyMoreEndsWithItsTerm) {
    client home = requiring(1, {.lease_time = 6s});
    mutex lock{home, "lock"};
    const lease held = soon(lock.async_lock(asio::use_future));
    store().cut_replica();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(nothing_is_held());
}

TEST_P(Replicas, AReleaseDoesNotWaitForThem) {
    client home = requiring(1);
    mutex lock{home, "lock"};
    lock.lock();
    store().cut_replica();
    EXPECT_FALSE(unlocked(lock));
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Replicas, WhatWasConfirmedIsKeptThroughAFailover) {
    client home = requiring(1), other = requiring(1);
    mutex lock{home, "lock"}, same{other, "lock"};
    lease held = soon(lock.async_lock(asio::use_future));
    store().fail_over();
    EXPECT_TRUE(eventually([&] {
        try {
            return same.is_locked();
        } catch (const boost::system::system_error&) {
            return false; // not there yet
        }
    }));
    EXPECT_TRUE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_TRUE(same.try_lock_for(10s));
    EXPECT_FALSE(unlocked(same));
}

TEST_P(Replicas, WhatTheReplicaDoesNotHaveIsLostInAFailoverAndThatIsToldAtOnce) {
    client home = requiring(0);
    mutex lock{home, "lock"};
    store().cut_replica();
    const lease held = soon(lock.async_lock(asio::use_future));
    store().fail_over();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_GT(options{}.lease_time, 10s) << "long before its term";
}

TEST_P(Replicas, WhoEntersAgainWithMoreMustHaveItConfirmed) {
    client home = requiring(0, {.lease_time = 6s});
    recursive_mutex few{home, "lock"}, all{home, "lock", {.required_replicas = 1}};
    few.lock();
    all.lock();
    EXPECT_FALSE(unlocked(all));
    EXPECT_FALSE(unlocked(few));
    store().cut_replica();
    few.lock();
    EXPECT_EQ(code_of([&] { all.lock(); }), store_errc::not_replicated);
    EXPECT_EQ(few.hold_count(), 1u);
    EXPECT_FALSE(unlocked(few));
}

TEST_P(Replicas, AChangeOfACounterIsRepeatedUntilItIsConfirmedAndCountsOnce) {
    client home = requiring(1);
    counting_semaphore seats{home, "seats"};
    store().cut_replica();
    std::future<void> released = seats.async_release(3, asio::use_future);
    ASSERT_TRUE(eventually([&] { return store().counter("seats") == 3; }));
    store().mend_replica();
    EXPECT_EQ(released.wait_for(support::far_too_long), std::future_status::ready);
    released.get();
    EXPECT_EQ(store().counter("seats"), 3);
}

} // namespace
} // namespace holdfast::conformance
