// SPDX-License-Identifier: Apache-2.0
// Redisson's own RedissonLockTest, with its roles split between a JVM and us: README.md says which
// test is which.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

namespace holdfast::interop {
namespace {

class RedissonLock : public meeting {
protected:
    remote_lock a() { return first().thread("a").lock("lock"); }
    remote_lock b() { return second().thread("b").lock("lock"); }

    void expect_waiting() {
        ASSERT_TRUE(eventually([this] { return waiters("lock") > 0; }));
    }
    void interrupt_waiting() {
        expect_waiting();
        ASSERT_TRUE(eventually([this] { return b().is_asleep(); }));
        b().interrupt();
    }
};
HOLDFAST_BOTH_WAYS(RedissonLock);

TEST_P(RedissonLock, AnInterruptedTryIsNotRenewed) {
    have_clients({.lease_time = 1s});
    a().lock(1h);
    ongoing trying = b().begin_try_lock_for(5min);
    interrupt_waiting();
    EXPECT_THROW((void)soon(std::move(trying.answer)), peer_failure);
    EXPECT_TRUE(a().unlock());
    EXPECT_TRUE(eventually([this] { return state_of(server()).empty(); }));
    EXPECT_TRUE(a().try_lock()); // nobody took it in the end
    EXPECT_TRUE(a().unlock());
}

TEST_P(RedissonLock, ACancelledWaitTakesNothingInTheEnd) {
    a().lock(1h);
    ongoing waiting = b().async().begin_lock();
    expect_waiting();
    EXPECT_TRUE(b().cancel(waiting));
    EXPECT_THROW((void)soon(std::move(waiting.answer)), peer_failure);
    EXPECT_TRUE(a().unlock());
    // A JVM goes on waiting, takes it and gives it back at once.
    EXPECT_TRUE(eventually([this] { return a().try_lock(); }));
    EXPECT_TRUE(a().unlock());
}

TEST_P(RedissonLock, TimedTryFailsOnAStoppedServer) {
    have_clients({.unavailable_patience = 50ms,
                  .redisson_server = {{"retryAttempts", 1}, {"timeout", 500}}});
    EXPECT_TRUE(a().try_lock());
    EXPECT_FALSE(b().try_lock());
    server().stop();
    EXPECT_THROW((void)b().try_lock_for(10s), peer_failure);
    EXPECT_THROW((void)a().force_unlock(), peer_failure);
}

TEST_P(RedissonLock, RemainingLeaseSurvivesPartialUnlocks) {
    for (int i = 0; i < 3; ++i)
        a().lock(10s);
    EXPECT_TRUE(a().unlock());
    EXPECT_TRUE(a().unlock());
    EXPECT_GT(b().remaining(), 9s);
    EXPECT_LE(b().remaining(), 10s);
    EXPECT_TRUE(a().unlock());
}

TEST_P(RedissonLock, TryWaitsItsPatience) {
    a().lock();
    const time_point began = boot_clock::now();
    EXPECT_FALSE(b().try_lock_for(300ms));
    EXPECT_GE(boot_clock::now() - began, 299ms);
    EXPECT_TRUE(a().unlock());
    EXPECT_TRUE(b().try_lock());
    EXPECT_TRUE(b().unlock());
}

TEST_P(RedissonLock, AnInterruptDoesNotEndAnUninterruptibleWait) {
    a().lock(1h);
    ongoing waiting = b().begin_lock(15s);
    interrupt_waiting();
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(a().unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(b().is_held());
    EXPECT_TRUE(b().unlock());
}

TEST_P(RedissonLock, AnInterruptEndsAnInterruptibleWait) {
    a().lock(1h);
    ongoing waiting = b().begin_lock_interruptibly();
    interrupt_waiting();
    EXPECT_THROW((void)soon(std::move(waiting.answer)), peer_failure);
    EXPECT_TRUE(a().unlock());
    // What the wait was granted in that very moment is given back behind it.
    EXPECT_TRUE(b().try_lock_for(10s));
    EXPECT_TRUE(b().unlock());
}

TEST_P(RedissonLock, ForceUnlockByItsOwnerFreesForEverybody) {
    a().lock();
    EXPECT_TRUE(a().force_unlock());
    EXPECT_FALSE(b().is_locked());
    EXPECT_FALSE(b().force_unlock());
    EXPECT_TRUE(b().try_lock());
    EXPECT_TRUE(b().unlock());
    EXPECT_FALSE(a().unlock());
}

TEST_P(RedissonLock, AnExpiredHoldPassesOnAndItsUnlockIsTold) {
    a().lock(1s);
    b().lock();
    EXPECT_TRUE(b().is_held());
    EXPECT_FALSE(a().unlock());
    EXPECT_TRUE(b().is_locked());
    EXPECT_TRUE(b().unlock());
}

TEST_P(RedissonLock, RemainingLeaseIsToldInAllStates) {
    a().lock(1h);
    EXPECT_GT(b().remaining(), 59min);
    EXPECT_LE(b().remaining(), 1h);
    EXPECT_TRUE(a().unlock());
    EXPECT_EQ(b().remaining(), -2ms);
    a().lock();
    EXPECT_GT(b().remaining(), 20s);
    EXPECT_LE(b().remaining(), 30s);
    EXPECT_TRUE(a().unlock());
}

TEST_P(RedissonLock, AClosedClientsLockEndsWithItsLease) {
    have_clients({.lease_time = 3s}); // a JVM's client takes a second to close on a busy machine
    std::unique_ptr<remote_client> closing = another(first().is_jvm());
    closing->thread("a").lock("lock").lock();
    closing.reset();
    EXPECT_TRUE(b().is_locked());
    b().lock();
    EXPECT_TRUE(b().unlock());
}

TEST_P(RedissonLock, HoldCountFollowsNesting) {
    for (const int count : {1, 2, 3}) {
        a().lock();
        EXPECT_EQ(a().hold_count(), count);
        EXPECT_EQ(b().hold_count(), 0);
    }
    for (const int count : {2, 1, 0}) {
        EXPECT_TRUE(a().unlock());
        EXPECT_EQ(a().hold_count(), count);
        EXPECT_EQ(a().is_held(), count > 0);
        EXPECT_EQ(b().is_locked(), count > 0);
    }
}

TEST_P(RedissonLock, OnlyItsThreadUnlocks) {
    EXPECT_FALSE(b().unlock());
    a().lock();
    EXPECT_FALSE(b().unlock());
    EXPECT_FALSE(first().thread("another").lock("lock").unlock());
    EXPECT_TRUE(a().is_locked());
    EXPECT_TRUE(a().is_held());
    EXPECT_TRUE(a().unlock());
}

TEST_P(RedissonLock, TheTwoSidesTakeTurns) {
    for (int round = 0; round < 2; ++round) {
        a().lock();
        EXPECT_TRUE(a().unlock());
        b().lock();
        EXPECT_TRUE(b().unlock());
    }
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(RedissonLock, ReentryNeedsAsManyUnlocks) {
    EXPECT_TRUE(a().try_lock());
    EXPECT_TRUE(a().try_lock());
    EXPECT_TRUE(a().unlock());
    EXPECT_FALSE(b().try_lock());
    EXPECT_TRUE(a().unlock());
    EXPECT_TRUE(b().try_lock());
    EXPECT_TRUE(b().unlock());
}

} // namespace
} // namespace holdfast::interop
