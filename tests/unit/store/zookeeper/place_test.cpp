// SPDX-License-Identifier: Apache-2.0
// How one owner comes to a lock: what it writes, what it watches, what it leaves behind.
#include "store/zookeeper/formats.hpp"
#include "support/thrown.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using support::code_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Place : public world {};

const std::string line_of_lock = "/holdfast/lock";

TEST_F(Place, AFreeLockIsGrantedWithItsNodesNumberAsToken) {
    party& one = enter();
    const ask want = one.wish("lock");
    const auto spot = one.line_up(want);
    EXPECT_FALSE(spot->must_leave());
    const answer said = one.look(*spot);
    EXPECT_TRUE(said.granted);
    EXPECT_GT(said.term, 5s);
    EXPECT_LE(said.term, 10s) << "the session's, not the lease";
    const std::vector<std::string> nodes = model.children(line_of_lock);
    ASSERT_THAT(nodes, SizeIs(1));
    EXPECT_EQ(nodes[0],
              node_prefix(node_form::curator, lock_kind::plain, want.owner) + "0000000000");
    const auto node = model.at(line_of_lock + "/" + nodes[0]);
    EXPECT_EQ(said.token, static_cast<std::uint64_t>(node->stat.czxid));
    EXPECT_EQ(said.tokens, 1u);
    EXPECT_EQ(owner_in_data(node->data)->owner, to_string(want.owner));
    EXPECT_TRUE(one.release(want));
    EXPECT_FALSE(one.release(want)) << "idempotent";
    EXPECT_THAT(model.children(line_of_lock), IsEmpty());
}

TEST_F(Place, AFreeLockIsOneRequestAndItsReleaseAnother) {
    party& one = enter();
    for (int round = 0; round < 2; ++round) {
        const std::size_t before = model.so_far().all;
        const ask want = one.wish("lock");
        EXPECT_TRUE(one.look(*one.line_up(want)).granted);
        EXPECT_TRUE(one.release(want));
        if (round > 0) { // the first one makes what is above it
            EXPECT_EQ(model.so_far().all - before, 2u);
        }
    }
}

TEST_F(Place, WhoIsSecondWaitsForTheFirstAndIsRungByItsEnd) {
    party& one = enter();
    party& two = enter();
    const ask first = one.wish("lock"), second = two.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    const auto waits = two.line_up(second);
    const answer busy = two.look(*waits);
    EXPECT_FALSE(busy.granted);
    EXPECT_GT(busy.term, 5s) << "it is told";
    EXPECT_TRUE(waits->must_leave());
    const auto woken = woken_by(*two.wake);
    EXPECT_FALSE(*woken);
    EXPECT_TRUE(one.release(first));
    settle();
    EXPECT_TRUE(*woken);
    EXPECT_TRUE(two.look(*waits).granted);
}

TEST_F(Place, AMissingParentIsCreated) {
    party& one = enter();
    const ask first = one.wish("lock"), second = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    EXPECT_TRUE(one.release(first));
    model.erase_if_empty(line_of_lock); // as the ensemble does with what is empty
    EXPECT_FALSE(model.at(line_of_lock));
    EXPECT_TRUE(one.look(*one.line_up(second)).granted);
    EXPECT_TRUE(one.release(second));
}

TEST_F(Place, AForeignChildIsIgnored) {
    party& one = enter();
    for (const char* name : {"hello", "lock-", "lock-abc", "_c_x-lease-0000000000", "locks"})
        model.make(line_of_lock + "/" + name, node_mode::persistent);
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    EXPECT_TRUE(one.release(want));
}

TEST_F(Place, WithoutPatienceNothingIsWrittenWhereSomebodyIs) {
    party& one = enter();
    model.make(line_of_lock + "/_c_8a0b-lock-", node_mode::ephemeral_sequential);
    ask want = one.wish("lock");
    want.waits = false;
    const auto spot = one.line_up(want);
    EXPECT_FALSE(one.look(*spot).granted);
    EXPECT_FALSE(spot->must_leave());
    EXPECT_EQ(model.so_far().creates, 0u);
}

TEST_F(Place, CreateWithLostAnswerIsFoundByItsGuid) {
    party& one = enter();
    const ask want = one.wish("lock");
    model.make(line_of_lock, node_mode::container, 0);
    const auto spot = one.line_up(want);
    one.plan("create_and_list", {.answer_lost = true});
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    EXPECT_TRUE(spot->uncertain());
    EXPECT_TRUE(spot->must_leave());
    EXPECT_TRUE(one.look(*spot).granted);
    EXPECT_FALSE(spot->uncertain());
    EXPECT_THAT(model.children(line_of_lock), SizeIs(1)) << "it was made once";
    EXPECT_TRUE(one.release(want));
}

TEST_F(Place, CreateWithLostAnswerIsFoundByItsGuidButNotInAnotherSession) {
    party& one = enter();
    model.make(line_of_lock, node_mode::container, 0);
    const ask want = one.wish("lock");
    // As an earlier session of this client made it, which has not ended yet at the ensemble.
    const std::string old =
        model.make(line_of_lock + "/" + node_prefix(node_form::curator, want.kind, want.owner),
                   node_mode::ephemeral_sequential, 0x99);
    const auto spot = one.line_up(want);
    one.plan("create_and_list", {.lost = true});
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    EXPECT_FALSE(one.look(*spot).granted) << "the other session's node holds nothing for this one";
    EXPECT_THAT(model.children(line_of_lock), SizeIs(2));
    model.end_session(0x99);
    EXPECT_FALSE(model.at(old));
    EXPECT_TRUE(one.look(*spot).granted);
}

TEST_F(Place, APlaceThatGivesUpLeavesNoNode) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(one.look(*one.line_up(one.wish("lock"))).granted);
    auto spot = two.line_up(two.wish("lock"));
    EXPECT_FALSE(two.look(*spot).granted);
    EXPECT_THAT(model.children(line_of_lock), SizeIs(2));
    run(spot->leave());
    EXPECT_FALSE(spot->must_leave());
    EXPECT_THAT(model.children(line_of_lock), SizeIs(1));
    run(spot->leave());
}

TEST_F(Place, LeavingAfterALostAnswerLeavesNoNode) {
    party& one = enter();
    model.make(line_of_lock, node_mode::container, 0);
    auto spot = one.line_up(one.wish("lock"));
    one.plan("create_and_list", {.answer_lost = true});
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    EXPECT_THAT(model.children(line_of_lock), SizeIs(1));
    run(spot->leave());
    EXPECT_THAT(model.children(line_of_lock), IsEmpty());
}

TEST_F(Place, ANodeThatSomebodyDeletesWhileItWaitsIsMadeAnew) {
    party& one = enter();
    party& two = enter();
    const ask first = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    const auto spot = two.line_up(two.wish("lock"));
    EXPECT_FALSE(two.look(*spot).granted);
    model.erase(line_of_lock + "/" + model.children(line_of_lock).back());
    EXPECT_FALSE(two.look(*spot).granted);
    EXPECT_TRUE(one.release(first));
    EXPECT_TRUE(two.look(*spot).granted);
}

TEST_F(Place, AfterTheEndOfItsSessionItBeginsAnew) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(one.look(*one.line_up(one.wish("lock"))).granted);
    const auto spot = two.line_up(two.wish("lock"));
    EXPECT_FALSE(two.look(*spot).granted);
    model.end_session(two.at->state().id);
    settle();
    EXPECT_EQ(two.doubts, 1);
    EXPECT_FALSE(two.look(*spot).granted);
    EXPECT_THAT(model.children(line_of_lock), SizeIs(2));
    model.end_session(one.at->state().id);
    settle();
    EXPECT_TRUE(two.look(*spot).granted);
}

TEST_F(Place, AWornOutSequenceIsRefusedNotGuessed) {
    party& one = enter();
    for (const std::int64_t number : {(1LL << 31) - (1LL << 20), (1LL << 31) - 1, 1LL << 31}) {
        model.make(line_of_lock, node_mode::container, 0);
        model.set_next_number(line_of_lock, number);
        auto spot = one.line_up(one.wish("lock"));
        try {
            one.look(*spot);
            FAIL() << "was answered";
        } catch (const boost::system::system_error& why) {
            EXPECT_EQ(why.code(), store_errc::worn_out);
            EXPECT_NE(std::string{why.what()}.find(line_of_lock), std::string::npos) << why.what();
        }
        run(spot->leave());
        EXPECT_THAT(model.children(line_of_lock), IsEmpty());
    }
}

TEST_F(Place, TheNumbersBeginAgainBeforeTheyEnd) {
    party& one = enter();
    model.make(line_of_lock, node_mode::container, 0);
    model.set_next_number(line_of_lock, (1LL << 30) - 1);
    for (const bool stays : {true, false}) {
        const ask want = one.wish("lock");
        EXPECT_TRUE(one.look(*one.line_up(want)).granted);
        EXPECT_TRUE(one.release(want));
        EXPECT_EQ(model.at(line_of_lock).has_value(), stays);
    }
}

} // namespace
} // namespace holdfast::zookeeper
