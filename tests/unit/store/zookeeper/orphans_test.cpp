// SPDX-License-Identifier: Apache-2.0
// Nodes that shall go, and of which nobody knows whether they have.
#include "support/thrown.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using support::code_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Orphans : public world {
protected:
    /// Something else is asked, which reconnects.
    void reconnect(party& one) {
        run(one.at->sync("/"));
        settle();
    }
    std::vector<std::string> nodes() { return model.children("/holdfast/lock"); }
};

TEST_F(Orphans, AReleaseThatWasNotSentIsDoneAfterTheReconnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    EXPECT_THAT(nodes(), SizeIs(1));
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_TRUE(one.release(want)) << "it was ours until we deleted it";
    EXPECT_FALSE(one.release(want));
}

TEST_F(Orphans, APlaceThatIsDroppedWithoutLeavingLeavesNoNode) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(one.look(*one.line_up(one.wish("lock"))).granted);
    {
        const auto spot = two.line_up(two.wish("lock"));
        EXPECT_FALSE(two.look(*spot).granted);
    }
    settle();
    EXPECT_THAT(nodes(), SizeIs(1));
}

TEST_F(Orphans, AnUnseenNodeOfADroppedPlaceIsFoundAndDeleted) {
    party& one = enter();
    model.make("/holdfast/lock", node_mode::container, 0);
    {
        const auto spot = one.line_up(one.wish("lock"));
        one.plan("create_and_list", {.answer_lost = true});
        EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    }
    settle();
    EXPECT_THAT(nodes(), SizeIs(1)) << "there is no connection";
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_F(Orphans, WhatFailsIsTriedAfterTheNextReconnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    for (int i = 0; i < 3; ++i)
        one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    for (int i = 0; i < 2; ++i) {
        reconnect(one);
        EXPECT_THAT(nodes(), SizeIs(1));
    }
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_F(Orphans, WhatIsRefusedIsTriedAgainOverTheSameConnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    for (int i = 0; i < 4; ++i)
        one.plan("remove", {.refused = store_errc::try_again});
    EXPECT_EQ(code_of([&] { one.release(want); }), store_errc::try_again);
    settle();
    EXPECT_THAT(nodes(), SizeIs(1));
    clock.run_for(10s);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_EQ(clock.sleepers(), 0u) << "nothing is left to wait for";
}

TEST_F(Orphans, ANewOneDoesNotWaitForWhatWasRefused) {
    party& one = enter();
    const ask first = one.wish("lock"), second = one.wish("another");
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    EXPECT_TRUE(one.look(*one.line_up(second)).granted);
    for (int i = 0; i < 8; ++i)
        one.plan("remove", {.refused = store_errc::no_permission});
    EXPECT_EQ(code_of([&] { one.release(first); }), store_errc::no_permission);
    clock.run_for(1s);
    EXPECT_EQ(code_of([&] { one.release(second); }), store_errc::no_permission);
    clock.run_for(1min);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_THAT(model.children("/holdfast/another"), IsEmpty());
}

TEST_F(Orphans, TheyEndWithTheirSession) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    model.end_session(one.at->state().id);
    settle();
    const std::size_t before = model.so_far().removes;
    reconnect(one);
    EXPECT_EQ(model.so_far().removes, before);
    EXPECT_FALSE(one.release(want)) << "nobody can tell whether it was lost before";
}

TEST_F(Orphans, WhatIsHeldIsNoOrphan) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted); // its place is gone now
    model.cut(one.at->state().id);
    settle();
    reconnect(one);
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(one.release(want));
}

} // namespace
} // namespace holdfast::zookeeper
