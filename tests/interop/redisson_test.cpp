// SPDX-License-Identifier: Apache-2.0
// Redisson's own RedissonLockTest, with its roles divided between a JVM and holdfast. README.md
// lists the corresponding tests.
#include "interop/crowd.hpp"
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <numeric>

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
    have_clients(
        {.unavailable_timeout = 50ms, .redisson_server = {{"retryAttempts", 1}, {"timeout", 500}}});
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

TEST_P(RedissonLock, TryWaitsItsTimeout) {
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

// Redisson's own RedissonLockExpirationRenewalTest, with its roles split between a JVM and us.

constexpr duration renewed_lease = 1s;

class RedissonRenewal : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.lease_time = renewed_lease});
    }

    remote_lock a() { return first().thread("a").lock("lock"); }
    remote_lock b() { return second().thread("b").lock("lock"); }
};
HOLDFAST_BOTH_WAYS_IN_TURN(RedissonRenewal, "getLock");

TEST_P(RedissonRenewal, GoesOnAfterARestartThatForgotTheLock) {
    a().lock();
    EXPECT_FALSE(b().try_lock());
    server().restart_empty();
    EXPECT_TRUE(eventually([this] {
        try {
            return !a().unlock(); // connections may still be broken
        } catch (const peer_failure&) {
            return false;
        }
    }));
    for (int round = 0; round < 2; ++round) {
        a().lock();
        EXPECT_TRUE(keeps(first(), "lock", 2 * renewed_lease));
        EXPECT_FALSE(b().try_lock());
        EXPECT_TRUE(a().unlock());
    }
}

TEST_P(RedissonRenewal, OfAnEarlierHoldDoesNotDisturbTheOthersLaterOne) {
    a().lock();
    a().lock();
    EXPECT_TRUE(a().unlock());
    EXPECT_TRUE(a().unlock());
    b().lock();
    EXPECT_TRUE(keeps(second(), "lock", 10 * renewed_lease / 3)); // ten renewals
    EXPECT_TRUE(b().is_held());
    EXPECT_TRUE(b().unlock());
}

// RedissonLockTest's testLockListener: a JVM hears how locks of ours end.

using testing::ElementsAre;

class RedissonListener : public meeting {};
HOLDFAST_ONE_WAY(RedissonListener);

TEST_P(RedissonListener, HearsHowOurHoldsEndUntilItIsRemoved) {
    server().command({"CONFIG", "SET", "notify-keyspace-events", "Egx"});
    remote_lock listening = jvm().thread("a").lock("L"), used = ours().thread("b").lock("L");
    listening.listen();
    used.lock();
    EXPECT_TRUE(used.unlock());
    EXPECT_TRUE(eventually([&] { return !listening.heard().empty(); }));
    const std::unique_ptr<peer> doomed = new_process(false);
    client_of(*doomed, false)->thread("c").lock("L").lock(1s);
    doomed->kill(); // alive, we would give it back a little before it ends
    EXPECT_TRUE(eventually([&] { return listening.heard().size() > 1; }));

    listening.unlisten();
    EXPECT_TRUE(eventually([this] { return server().command({"PUBSUB", "NUMPAT"}).integer == 0; }));
    used.lock();
    EXPECT_TRUE(used.unlock());
    EXPECT_THAT(listening.heard(), ElementsAre("deleted L", "expired L"));
}

// Those tests of Redisson's RedissonLockTest and RedissonLockHeavyTest that take a crowd, half of
// it in a JVM and half of it ours: README.md says which test is which.

class RedissonCrowd : public meeting {
protected:
    /// So many clients of each side, each with so many threads, work until they were granted
    /// `grants` locks together, and each client one at least. Nobody may ever be disturbed.
    history all_work(int clients, int threads, const task& what, std::size_t grants) {
        const history_folder folder;
        std::vector<std::unique_ptr<remote_crew>> crews;
        for (int i = 0; i < clients; ++i)
            for (const bool is_jvm : {true, false})
                clients_.push_back(another(is_jvm));
        for (const auto& each : clients_)
            crews.push_back(
                std::make_unique<remote_crew>(*each, threads, what, folder.path / each->label()));
        std::vector<std::size_t> granted(crews.size());
        EXPECT_TRUE(eventually([&] {
            for (std::size_t i = 0; i < crews.size(); ++i)
                granted[i] += crews[i]->new_grants().size();
            return std::reduce(granted.begin(), granted.end()) >= grants &&
                   !std::ranges::count(granted, 0u);
        })) << testing::PrintToString(granted);
        history told;
        for (const auto& each : crews)
            told.add(each->stop());
        EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
        EXPECT_THAT(told.troubles, testing::IsEmpty());
        return told;
    }

    void close_ours() {
        std::erase_if(clients_, [](const auto& each) { return !each->is_jvm(); });
    }

private:
    std::vector<std::unique_ptr<remote_client>> clients_;
};
HOLDFAST_ONE_WAY(RedissonCrowd);

TEST_P(RedissonCrowd, ThreadsOfOneClientEnterOneAfterTheOther) {
    all_work(1, 8, {{"lock"}, {{}}}, 300);
}

TEST_P(RedissonCrowd, ClientsEnterOneAfterTheOther) {
    all_work(8, 1, {{"lock"}, {{.hold = 1ms}}}, 1'600);
}

TEST_P(RedissonCrowd, OfManyClientsEachIsServed) {
    all_work(16, 1, {{"lock"}, {{.pause = 5ms}}}, 0);
}

TEST_P(RedissonCrowd, ManyTriesAtOnceGrantToOneAndDisturbNobodysRenewal) {
    const history told = all_work(1, 8, {{"lock"}, {{.timeout = 0ms, .pause = 1ms}}}, 1'000);
    EXPECT_GT(told.gave_up, 0u);
}

TEST_P(RedissonCrowd, AJvmWithOneSubscriptionIsServedOnManyNames) {
    have_clients({.redisson_server = {{"subscriptionConnectionMinimumIdleSize", 1},
                                      {"subscriptionConnectionPoolSize", 1},
                                      {"subscriptionsPerConnection", 1}}});
    all_work(1, 16, {{"1", "2", "3", "4", "5"}, {{.timeout = 100ms, .hold = 1ms}}}, 1'000);
    close_ours(); // who go on listening for a while
    EXPECT_TRUE(eventually([this] {
        return server().command({"PUBSUB", "CHANNELS"}).items.empty();
    }));
}

TEST_P(RedissonCrowd, AThousandNamesAreAThousandLocks) {
    task what{{}, {{}, {.timeout = 5ms}, {.depth = 2}}};
    for (int i = 0; i < 1'000; ++i)
        what.names.push_back("name:" + std::to_string(i));
    all_work(1, 10, what, 3'000);
    EXPECT_TRUE(state_of(server()).empty());
}

} // namespace
} // namespace holdfast::interop
