// SPDX-License-Identifier: Apache-2.0
// A JVM and ours hold and wait while another server becomes the primary: both holds go on, and what
// the one releases afterwards is the other's. For how long a JVM cannot do anything after a
// failover is Redisson's own matter, and is waited for.
#include "interop/several_servers.hpp"

namespace holdfast::interop {
namespace {

class SeveralServersFailover : public several_servers {
protected:
    /// What is asked about one slot: of a cluster, two names that another server gets together.
    static constexpr const char* theirs = "{L}:theirs";
    static constexpr const char* of_ours = "{L}:ours";

    void SetUp() override {
        meeting::SetUp();
        // Long enough for any failover. A JVM that misses a message asks when the lease would end.
        have_clients({.lease_time = 12s, .poll_bound = 1h});
    }

    void expect_holds_to_outlive(fall how) {
        remote_lock held_by_jvm = jvm().thread("alice").lock(theirs);
        remote_lock held_by_ours = ours().thread("bob").lock(of_ours);
        remote_lock wanted_by_jvm = jvm().thread("anne").lock(of_ours);
        remote_lock wanted_by_ours = ours().thread("ben").lock(theirs);
        held_by_jvm.lock();
        held_by_ours.lock();
        ongoing waiting_jvm = parked(jvm(), wanted_by_jvm);
        ongoing waiting_ours = parked(ours(), wanted_by_ours);
        const auto before = std::pair{holders(theirs), holders(of_ours)};
        servers().replicate("L");
        support::redis_server& old = server();
        servers().replace_keeper_of("L", how);
        ASSERT_NE(&server(), &old);
        EXPECT_EQ((std::pair{holders(theirs), holders(of_ours)}), before);

        // Ours listens where the lock is now, and hears the JVM.
        EXPECT_TRUE(eventually([this] { return waiters(theirs) > 0; }));
        EXPECT_FALSE(support::is_ready(waiting_ours.answer));
        release_in_the_end(held_by_jvm);
        (void)soon(std::move(waiting_ours.answer));
        EXPECT_TRUE(wanted_by_ours.is_held());
        EXPECT_TRUE(wanted_by_ours.unlock());

        EXPECT_FALSE(support::is_ready(waiting_jvm.answer));
        EXPECT_TRUE(held_by_ours.is_held());
        EXPECT_TRUE(held_by_ours.unlock());
        (void)soon(std::move(waiting_jvm.answer));
        release_in_the_end(wanted_by_jvm);
        EXPECT_TRUE(is_free(theirs) && is_free(of_ours));
    }
};
HOLDFAST_IN_TOPOLOGIES(SeveralServersFailover, "getLock");

TEST_P(SeveralServersFailover, HoldsOfBothSidesOutliveAKilledPrimary) {
    expect_holds_to_outlive(fall::killed);
}

TEST_P(SeveralServersFailover, HoldsOfBothSidesOutliveAnOrderedFailover) {
    if (GetParam().where == topology::cluster && !is_at_least(GetParam().redisson, 3, 22))
        return; // it asks the old primary for more than a minute
    expect_holds_to_outlive(fall::ordered);
}

} // namespace
} // namespace holdfast::interop
