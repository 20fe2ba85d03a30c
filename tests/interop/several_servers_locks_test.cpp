// SPDX-License-Identifier: Apache-2.0
// Locks of a JVM and ours in a cluster and in a Sentinel set: what each sees of the other's holds,
// and whom each side's releases wake, in each way of telling.
#include "interop/several_servers.hpp"

namespace holdfast::interop {
namespace {

using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class SeveralServersLocks : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersLocks, "getLock", "getFairLock", "getReadWriteLock",
                       "getFencedLock", "getSpinLock");

TEST_P(SeveralServersLocks, AHoldIsAFieldOfItsOwnerAndBusyToTheOtherSide) {
    in_either_role([this](remote_client& one, remote_client& other) {
        for (const std::string name : names_of_three) {
            SCOPED_TRACE(name);
            remote_lock held = lock_of(one, "alice", name), across = lock_of(other, "bob", name);
            held.lock(60s);
            const std::string owner = one.thread("alice").owner();
            EXPECT_THAT(holders(name), UnorderedElementsAre(Pair(StartsWith(owner), "1")));
            const duration left{keeper_of(name).command({"PTTL", name}).integer};
            EXPECT_LE(left, 60s);
            EXPECT_GT(left, 30s);
            EXPECT_FALSE(across.try_lock());
            EXPECT_TRUE(across.is_locked());
            EXPECT_FALSE(across.unlock());
            EXPECT_TRUE(held.unlock());
            EXPECT_TRUE(is_free(name));
            EXPECT_TRUE(across.try_lock());
            EXPECT_FALSE(held.try_lock());
            EXPECT_TRUE(across.unlock());
        }
    });
}

class SeveralServersWaking : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersWaking, "getLock", "getFairLock", "getReadWriteLock",
                       "getFencedLock");
INSTANTIATE_TEST_SUITE_P(Both, SeveralServersWaking, testing::ValuesIn(one_way_in_cluster("both")),
                         name_of);

TEST_P(SeveralServersWaking, AReleaseServesTheOthersWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_lock held = lock_of(one, "alice"), wanted = lock_of(other, "bob");
        held.lock();
        ongoing waiting = parked(other, wanted);
        EXPECT_FALSE(support::is_ready(waiting.answer));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.is_held());
        EXPECT_TRUE(wanted.unlock());
        EXPECT_TRUE(is_free("L"));
    });
}

} // namespace
} // namespace holdfast::interop
