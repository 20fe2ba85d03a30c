// SPDX-License-Identifier: Apache-2.0
// Processes at a ZooKeeper server that die holding or waiting, of ours and of others.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

class Killed : public keeper_meeting {};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, Killed,
                         ::testing::ValuesIn(with_curator({"getLock", write_side, read_side})),
                         name_of_keeper_setting);
INSTANTIATE_TEST_SUITE_P(KazooAnd, Killed,
                         ::testing::ValuesIn(with_kazoo({"getLock", write_side, read_side})),
                         name_of_keeper_setting);

TEST_P(Killed, AHoldersLockIsTheOthersWhenItsSessionHasEnded) {
    const bool alone = GetParam().getter == "getLock";
    remote_lock wanted = side(second(), "bob", alone ? "getLock" : write_side);
    (void)wanted.is_locked(); // so that it is connected
    die_holding(others_are_first());
    const std::vector<std::string> left = nodes();
    ASSERT_THAT(left, SizeIs(1));
    EXPECT_FALSE(wanted.try_lock());
    wanted.lock();
    EXPECT_THAT(nodes(), ElementsAre(testing::Ne(left.front())));
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Killed, AWaiterIsPassedBy) {
    const std::string exclusive = GetParam().getter == "getLock" ? "getLock" : write_side;
    const std::unique_ptr<peer> process = new_process(!others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, !others_are_first());
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_lock held = side(first(), "alice", exclusive), dies = lock_of(*doomed, "doomed"),
                behind = side(*third, "carol", exclusive);
    held.lock();
    ongoing lost = in_line([&] { return dies.begin_lock(); });
    ongoing waiting = in_line([&] { return behind.begin_lock(); });
    process->kill();
    EXPECT_THROW((void)soon(std::move(lost.answer)), peer_failure);
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(behind.unlock());
}

} // namespace
} // namespace holdfast::interop
