// SPDX-License-Identifier: Apache-2.0
// A JVM and ours hold and wait while the lock's slot goes to another server of a cluster. What JVMs
// miss meanwhile is told in docs/topologies.md; ours miss nothing.
#include "interop/several_servers.hpp"

namespace holdfast::interop {
namespace {

class SeveralServersSlot : public several_servers {
protected:
    void SetUp() override {
        several_servers::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) {
            slot_ = nodes().slot_of("L");
            to_ = &nodes().other_primary(server());
        }
    }
    support::redis_cluster& nodes() { return shared_cluster(GetParam().server); }

    bool is_at_the_target() {
        to_->command({"ASKING"});
        return to_->command({"EXISTS", "L"}).integer == 1;
    }

    int slot_ = 0;
    support::redis_server* to_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Cluster, SeveralServersSlot,
                         testing::ValuesIn(one_way_in(topology::cluster)), name_of);

TEST_P(SeveralServersSlot, AJvmsHoldIsBusyToOursInEachStepAndItsReleaseServesOurWaiter) {
    remote_lock held = jvm().thread("alice").lock("L"), wanted = ours().thread("bob").lock("L");
    const std::unique_ptr<remote_client> third = another(false);
    remote_lock trying = third->thread("carol").lock("L");
    held.lock();
    ongoing waiting = parked(ours(), wanted);
    const auto before = holders("L");
    nodes().begin_move(slot_, *to_);
    EXPECT_FALSE(trying.try_lock());
    nodes().move_keys(slot_, *to_);
    EXPECT_TRUE(is_at_the_target());
    EXPECT_FALSE(trying.try_lock());
    nodes().end_move(slot_, *to_);
    EXPECT_FALSE(trying.try_lock());
    EXPECT_EQ(&server(), to_);
    EXPECT_EQ(holders("L"), before);
    EXPECT_TRUE(eventually([this] { return waiters("L") > 0; }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    release_in_the_end(held);
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free("L"));
}

TEST_P(SeveralServersSlot, OurHoldIsBusyToAJvmAndIsReleasedBetweenTheServers) {
    remote_lock held = ours().thread("alice").lock("L");
    held.lock();
    EXPECT_FALSE(jvm().thread("bob").lock("L").try_lock());
    nodes().begin_move(slot_, *to_);
    nodes().move_keys(slot_, *to_);
    EXPECT_TRUE(is_at_the_target());
    EXPECT_TRUE(held.unlock());
    EXPECT_FALSE(is_at_the_target());
    held.lock();
    EXPECT_TRUE(is_at_the_target());
    nodes().end_move(slot_, *to_);
    // 3.13.6 goes on looking for it where it was, for more than half a minute.
    const std::unique_ptr<remote_client> newcomer = another(true);
    remote_lock across = newcomer->thread("carol").lock("L");
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(across.try_lock());
    EXPECT_TRUE(across.unlock());
}

} // namespace
} // namespace holdfast::interop
