// SPDX-License-Identifier: Apache-2.0
// Curator's and kazoo's exclusive locks and ours, at one path of a ZooKeeper server.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

class WeExclude : public keeper_meeting {
protected:
    remote_lock of_first(const std::string& actor = "alice") { return lock_of(first(), actor); }
    remote_lock of_second(const std::string& actor = "bob") { return lock_of(second(), actor); }

    /// What a node's name ends with.
    static std::string ending(bool of_others) {
        const bool kazoos =
            of_others ? GetParam().neighbour == "kazoo" && GetParam().names != naming::curators
                      : GetParam().names == naming::kazoos;
        const std::string mark = kazoos                            ? "__lock__"
                                 : GetParam().getter == write_side ? "-__WRIT__"
                                                                   : "-lock-";
        return ".*" + mark + "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]";
    }
};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, WeExclude,
                         ::testing::ValuesIn(with_curator({"getLock", write_side})),
                         name_of_keeper_setting);
INSTANTIATE_TEST_SUITE_P(KazooAnd, WeExclude,
                         ::testing::ValuesIn(with_kazoo({"getLock", write_side})),
                         name_of_keeper_setting);

TEST_P(WeExclude, AHeldLockIsBusyToTheOtherSideUntilItsRelease) {
    remote_lock held = of_first(), across = of_second();
    held.lock();
    EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(ending(others_are_first()))));
    EXPECT_FALSE(across.try_lock());
    EXPECT_FALSE(across.try_lock_for(20ms));
    EXPECT_FALSE(across.unlock());
    EXPECT_TRUE(come_to(1)) << "whoever gave up left something";
    EXPECT_TRUE(across.is_locked());
    EXPECT_TRUE(held.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_FALSE(across.is_locked());
    EXPECT_TRUE(across.try_lock());
    EXPECT_FALSE(held.try_lock());
    EXPECT_TRUE(across.unlock());
    EXPECT_TRUE(held.try_lock_for(10s));
    EXPECT_TRUE(held.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_P(WeExclude, AReleaseWakesTheOtherSidesWaiter) {
    remote_lock held = of_first(), wanted = of_second();
    for (int round = 0; round < 3; ++round) {
        held.lock();
        ongoing waiting = in_line([&] { return wanted.begin_lock(); });
        EXPECT_FALSE(support::is_ready(waiting.answer));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer)); // nobody looks again by himself
        EXPECT_FALSE(of_first().try_lock());
        EXPECT_TRUE(wanted.unlock());
    }
}

TEST_P(WeExclude, AllAreServedInTheOrderInWhichTheyCame) {
    const std::unique_ptr<remote_client> third = another(others_are_first()),
                                         fourth = another(!others_are_first());
    remote_lock held = of_first();
    std::vector<remote_lock> queue{of_second(), lock_of(*third, "carol"), lock_of(*fourth, "dave")};
    held.lock();
    std::vector<ongoing> waiting;
    for (remote_lock& each : queue)
        waiting.push_back(in_line([&] { return each.begin_lock(); }));
    EXPECT_TRUE(held.unlock());
    for (std::size_t i = 0; i < queue.size(); ++i) {
        (void)soon(std::move(waiting[i].answer));
        for (std::size_t behind = i + 1; behind < queue.size(); ++behind)
            EXPECT_FALSE(support::is_ready(waiting[behind].answer));
        EXPECT_TRUE(queue[i].unlock());
    }
}

TEST_P(WeExclude, WhoeverGivesUpIsPassedBy) {
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_lock held = of_first(), impatient = of_second(), behind = lock_of(*third, "carol");
    held.lock();
    ongoing gives_up = in_line([&] { return impatient.begin_try_lock_for(300ms); });
    ongoing waiting = in_line([&] { return behind.begin_lock(); });
    EXPECT_FALSE(soon(std::move(gives_up.answer)).as_bool());
    EXPECT_TRUE(come_to(2)); // of who holds it and who waits
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(behind.unlock());
}

class WeExcludeCurators : public WeExclude {};
HOLDFAST_AT_KEEPER(WeExcludeCurators, with_curator({"getLock", write_side}));

TEST_P(WeExcludeCurators, AHolderEntersAgainWithoutANode) {
    remote_lock held = of_first(), across = of_second();
    held.lock();
    held.lock();
    EXPECT_EQ(held.hold_count(), 2);
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(held.unlock());
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(across.try_lock());
    EXPECT_TRUE(across.unlock());
}

class CuratorsBelief : public WeExclude {};
HOLDFAST_AT_KEEPER(CuratorsBelief, only_others_first(with_curator({"getLock"})));

/// For operators: `holdfast unlock --force` frees the lock, and Curator's holder is not told.
TEST_P(CuratorsBelief, OutlivesItsNode) {
    remote_lock at_curator = lock_of(others(), "alice"), at_us = lock_of(ours(), "bob");
    at_curator.lock();
    EXPECT_TRUE(at_us.force_unlock());
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_TRUE(at_us.try_lock());
    EXPECT_TRUE(at_curator.is_held());
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_us.is_held()) << "it had nothing to release";
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(at_us.unlock());
}

} // namespace
} // namespace holdfast::interop
