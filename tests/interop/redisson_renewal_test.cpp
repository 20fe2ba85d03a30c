// SPDX-License-Identifier: Apache-2.0
// Redisson's own RedissonLockExpirationRenewalTest, with its roles split between a JVM and us.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

namespace holdfast::interop {
namespace {

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

} // namespace
} // namespace holdfast::interop
