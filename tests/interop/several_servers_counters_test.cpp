// SPDX-License-Identifier: Apache-2.0
// Counters of a JVM and ours in a cluster and in a Sentinel set: each side counts what the other
// has taken, and is woken by what it gives back.
#include "interop/several_servers.hpp"

namespace holdfast::interop {
namespace {

class SeveralServersSemaphore : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersSemaphore, "getSemaphore");

TEST_P(SeveralServersSemaphore, IsCountedByBothAndServesTheOthersWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_semaphore alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_permits(3));
        EXPECT_FALSE(bob.try_set_permits(7));
        alice.acquire(2);
        expect_number(1);
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_FALSE(bob.try_acquire(2));
        ongoing served = parked([&] { return bob.begin_acquire(2); });
        alice.release();
        (void)soon(std::move(served.answer));
        expect_number(0);
        EXPECT_TRUE(alice.erase());
    });
}

class SeveralServersLatch : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersLatch, "getCountDownLatch");

TEST_P(SeveralServersLatch, IsCountedByBothAndOpensForTheOther) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_latch alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_count(2));
        EXPECT_FALSE(bob.try_set_count(7));
        bob.count_down();
        expect_number(1);
        EXPECT_EQ(alice.count(), 1);
        ongoing passed = parked([&] { return bob.begin_wait(); });
        alice.count_down();
        (void)soon(std::move(passed.answer));
        expect_nothing();
    });
}

class SeveralServersPermits : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersPermits, "getPermitExpirableSemaphore");

TEST_P(SeveralServersPermits, OfOneSideAreReleasedByTheOtherAndServeItsWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_permits alice{one.thread("alice")}, bob{other.thread("bob")};
        remote_permits anne{one.thread("anne")};
        EXPECT_TRUE(alice.try_set_permits(1));
        const std::string held = alice.acquire(1h);
        EXPECT_EQ(bob.available_permits(), 0);
        EXPECT_FALSE(bob.try_acquire());
        ongoing served = parked([&] { return bob.begin_acquire(1h); });
        EXPECT_TRUE(anne.try_release(held));
        const auto id = json::value_to<std::string>(soon(std::move(served.answer)));
        EXPECT_EQ(alice.available_permits(), 0);
        EXPECT_TRUE(alice.try_release(id));
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_TRUE(alice.erase());
    });
}

class SeveralServersRate : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersRate, "getRateLimiter");

TEST_P(SeveralServersRate, IsDrawnFromByBothAndNeverExceeded) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_rate alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_rate({"OVERALL", 3, 1h}));
        EXPECT_FALSE(bob.try_set_rate({"OVERALL", 7, 1h}));
        EXPECT_TRUE(alice.try_acquire());
        EXPECT_TRUE(bob.try_acquire(2));
        for (remote_rate* each : {&alice, &bob}) {
            EXPECT_EQ(each->available_permits(), 0);
            EXPECT_FALSE(each->try_acquire());
        }
        EXPECT_TRUE(alice.erase());
    });
}

} // namespace
} // namespace holdfast::interop
