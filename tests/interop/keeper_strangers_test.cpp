// SPDX-License-Identifier: Apache-2.0
// Who at ZooKeeper does not see whom, so that operators are told nothing that is not so.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

class Strangers : public keeper_meeting {
protected:
    void SetUp() override {
        keeper_meeting::SetUp();
        if (!IsSkipped() && !has_neighbour("curator"))
            GTEST_SKIP() << "these tests need curator: ./dev interop";
    }
    remote_client& curator() {
        if (!curator_)
            curator_ = std::make_unique<remote_client>(
                shared_neighbour("curator"), false, shared_keeper().url(),
                client_settings{.lease_time = duration{10s}, .root = root()});
        return *curator_;
    }

private:
    std::unique_ptr<remote_client> curator_;
};
HOLDFAST_AT_KEEPER(Strangers,
                   std::vector<keeper_setting>{{"kazoo", naming::own, false, "getLock"}});

TEST_P(Strangers, CuratorAndKazooBothHoldTheSameLockWhoeverComesFirst) {
    remote_lock at_curator = curator().thread("alice").lock("L"),
                at_kazoo = lock_of(others(), "bob");
    at_curator.lock();
    EXPECT_TRUE(at_kazoo.try_lock()) << "then docs/compatibility.md says too little";
    EXPECT_THAT(nodes(), testing::SizeIs(2));
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_curator.try_lock()) << "it sorts kazoo's node behind its own";
    EXPECT_TRUE(at_kazoo.unlock());
    EXPECT_TRUE(at_curator.unlock());
}

TEST_P(Strangers, OursWaitsForBoth) {
    remote_lock at_us = lock_of(ours(), "carol");
    for (remote_lock each : {curator().thread("alice").lock("L"), lock_of(others(), "bob")}) {
        each.lock();
        EXPECT_FALSE(at_us.try_lock());
        ongoing waits = in_line([&] { return at_us.begin_lock(); });
        EXPECT_TRUE(each.unlock());
        (void)soon(std::move(waits.answer));
        EXPECT_TRUE(at_us.unlock());
    }
}

/// Ours counts the names of both; kazoo counts its own.
TEST_P(Strangers, KazooDoesNotWaitForOursWithCuratorsNamesAndOursWaitsForIt) {
    remote_lock at_us = lock_of(ours(), "alice"), at_kazoo = lock_of(others(), "bob");
    at_us.lock();
    EXPECT_TRUE(at_kazoo.try_lock());
    EXPECT_TRUE(at_us.unlock());
    EXPECT_FALSE(at_us.try_lock());
    EXPECT_TRUE(at_kazoo.unlock());
    EXPECT_TRUE(at_us.try_lock());
    EXPECT_TRUE(at_us.unlock());
}

TEST_P(Strangers, KazoosLockDoesNotWaitForKazoosReaders) {
    remote_lock reads = side(others(), "alice", read_side), alone = lock_of(others(), "bob"),
                writes = side(others(), "carol", write_side);
    reads.lock();
    EXPECT_FALSE(writes.try_lock());
    EXPECT_TRUE(alone.try_lock());
    EXPECT_TRUE(alone.unlock());
    EXPECT_TRUE(reads.unlock());
}

class StrangersInKazoosForm : public Strangers {};
HOLDFAST_AT_KEEPER(StrangersInKazoosForm,
                   std::vector<keeper_setting>{{"kazoo", naming::kazoos, false, "getLock"}});

TEST_P(StrangersInKazoosForm, OursWaitsForCuratorWhichDoesNotWaitForOurs) {
    remote_lock at_curator = curator().thread("alice").lock("L"), at_us = lock_of(ours(), "bob");
    at_curator.lock();
    EXPECT_FALSE(at_us.try_lock());
    EXPECT_TRUE(at_curator.unlock());
    at_us.lock();
    EXPECT_TRUE(at_curator.try_lock());
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_us.unlock());
}

} // namespace
} // namespace holdfast::interop
