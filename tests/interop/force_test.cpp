// SPDX-License-Identifier: Apache-2.0
// A lock that the other side takes away.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

namespace holdfast::interop {
namespace {

class Force : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        // Waiters that do not poll, and holders that look after a second.
        have_clients({.lease_time = 3s, .poll_bound = 1h});
    }
};
HOLDFAST_BOTH_WAYS(Force);

TEST_P(Force, WakesTheWaitersOfBothSides) {
    // Of a third client: behind a hold of their own client, our waiters need not listen.
    const std::unique_ptr<remote_client> third = another(first().is_jvm());
    remote_lock held = third->thread("alice").lock("L");
    remote_lock wanted = first().thread("anne").lock("L");
    remote_lock wanted_too = second().thread("bob").lock("L");
    remote_lock forcing = second().thread("carol").lock("L");
    held.lock(1h); // no end of a lease wakes anybody
    ongoing waiting = wanted.begin_lock(), waiting_too = wanted_too.begin_lock();
    ASSERT_TRUE(eventually([&] { return waiters("L") == 2; }));

    EXPECT_TRUE(forcing.force_unlock());
    ASSERT_TRUE(eventually([&] {
        return support::is_ready(waiting.answer) || support::is_ready(waiting_too.answer);
    }));
    // One of them has it now, and lets the other in.
    remote_lock& one = support::is_ready(waiting.answer) ? wanted : wanted_too;
    remote_lock& other = &one == &wanted ? wanted_too : wanted;
    EXPECT_TRUE(one.is_held());
    EXPECT_TRUE(one.unlock());
    (void)soon(std::move(waiting.answer));
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(other.is_held());
    EXPECT_TRUE(other.unlock());
    EXPECT_FALSE(held.unlock());
}

TEST_P(Force, IsNoticedByTheHolderWhoLeavesTheNextOneAlone) {
    remote_lock held = first().thread("alice").lock("L");
    const remote_thread bob = second().thread("bob");
    remote_lock forcing = bob.lock("L");
    held.lock();
    EXPECT_TRUE(held.is_held());
    EXPECT_TRUE(forcing.force_unlock());
    forcing.lock();
    // A JVM asks the server, ours knows it from its next renewal.
    EXPECT_TRUE(eventually([&] { return !held.is_held(); }));
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(forcing.is_held());
    const auto state = state_of(server());
    ASSERT_EQ(state.at("L").fields.size(), 1u);
    EXPECT_THAT(state.at("L").fields.begin()->first, testing::StartsWith(bob.owner()));
    EXPECT_TRUE(forcing.unlock());
}

} // namespace
} // namespace holdfast::interop
