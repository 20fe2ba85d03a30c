// SPDX-License-Identifier: Apache-2.0
// redis-py's Lock, redsync and node-redlock at one server, and our token_mutex.
#include "interop/council.hpp"
#include "interop/server_state.hpp"

namespace holdfast::interop {
namespace {

class Neighbours : public council {
protected:
    Neighbours()
        : council{1, "token_mutex"} {}

    remote_lock lock_of(delegation& whose, const std::string& actor) {
        return whose.one(actor, {0, "L"}, "token");
    }
    std::string value() { return server().command({"GET", "L"}).text; }
    std::chrono::microseconds end() { return ends_of("L").front(); }
};
HOLDFAST_COUNCIL(Neighbours, neighbours_on_each_server({"redis-py", "redsync", "node-redlock"}));

TEST_P(Neighbours, AHeldLockIsAStringAndBusyToTheOtherSide) {
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    held.lock(60s);
    const auto state = state_of(server());
    ASSERT_EQ(state.size(), 1U);
    EXPECT_EQ(state.at("L").type, "string");
    EXPECT_LE(state.at("L").left.value(), 60s);
    EXPECT_GT(state.at("L").left.value(), 30s);
    EXPECT_FALSE(across.try_lock());
    EXPECT_FALSE(across.try_lock_for(5ms));
    EXPECT_FALSE(across.unlock());
    EXPECT_TRUE(held.unlock());
    EXPECT_EQ(keys(), 0);
    EXPECT_TRUE(across.try_lock());
    const std::string whose = value();
    EXPECT_FALSE(held.try_lock());
    EXPECT_FALSE(held.unlock());
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(across.unlock());
    EXPECT_EQ(keys(), 0);
}

TEST_P(Neighbours, AWaiterGetsTheLockAfterARelease) {
    have_clients({.lease_time = 10s, .poll_bound = 1h});
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock(80s);
    ongoing waiting = wanted.begin_lock();
    EXPECT_FALSE(lock_of(second(), "carol").try_lock());
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer)); // and so long before its lease would have ended
    EXPECT_EQ(keys(), 1);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Neighbours, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(others_are_first());
    const std::unique_ptr<delegation> its = delegation_of(*doomed, others_are_first());
    remote_lock wanted = lock_of(second(), "bob");
    lock_of(*its, "alice").lock(1s);
    const std::chrono::microseconds end_of_lease = end();
    ongoing waiting = wanted.begin_lock();
    doomed->kill();
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end_of_lease);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Neighbours, AnExpiredHoldPassesOnAndItsUnlockEndsNobodyElses) {
    remote_lock held = lock_of(first(), "alice"), next = lock_of(second(), "bob");
    held.lock(200ms);
    next.lock();
    const std::string whose = value();
    EXPECT_FALSE(held.unlock());
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(next.unlock());
}

class NeighboursLongevity : public Neighbours {};
HOLDFAST_COUNCIL(NeighboursLongevity,
                 in_one_role(neighbours_on_each_server({"redis-py", "redsync", "node-redlock"})));

TEST_P(NeighboursLongevity, OurHoldIsRenewedAndKeepsThemOut) {
    have_clients({.lease_time = 2s});
    remote_lock held = lock_of(ours(), "alice"), across = lock_of(others(), "bob");
    held.lock();
    const std::string whose = value();
    const std::chrono::microseconds later = time_of(server()) + 5s;
    EXPECT_TRUE(eventually([&] {
        EXPECT_FALSE(across.try_lock());
        return HasFailure() || time_of(server()) > later;
    }));
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(held.unlock());
}

} // namespace
} // namespace holdfast::interop
