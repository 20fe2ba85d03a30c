// SPDX-License-Identifier: Apache-2.0
// Curator's read-write lock.
#include "store/zookeeper/formats.hpp"
#include "support/thrown.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using support::code_of;
using ::testing::SizeIs;

class SharedPlace : public world {
protected:
    ask reading(party& who) { return who.wish("lock", lock_kind::read); }
    ask writing(party& who) { return who.wish("lock", lock_kind::write); }
    static ask beside(ask want, const ask& under) {
        want.under = under.owner.number;
        return want;
    }
    std::vector<std::string> nodes() { return model.children("/holdfast/lock"); }
};

TEST_F(SharedPlace, ReadersShareAndWhoWritesIsAlone) {
    party& one = enter();
    party& two = enter();
    const ask first = reading(one), second = reading(two), third = writing(two);
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    EXPECT_TRUE(two.look(*two.line_up(second)).granted);
    const auto writes = two.line_up(third);
    EXPECT_FALSE(two.look(*writes).granted);
    const auto late = one.line_up(reading(one));
    EXPECT_FALSE(one.look(*late).granted) << "who waits to write comes before";
    EXPECT_TRUE(two.release(second));
    EXPECT_FALSE(two.look(*writes).granted);
    EXPECT_TRUE(one.release(first));
    EXPECT_TRUE(two.look(*writes).granted);
    EXPECT_FALSE(one.look(*late).granted);
    EXPECT_TRUE(two.release(third));
    EXPECT_TRUE(one.look(*late).granted);
}

TEST_F(SharedPlace, AReadUnderAWriteIsAPlainNodeOfItsNumber) {
    party& one = enter();
    party& two = enter();
    const ask writes = writing(one);
    EXPECT_TRUE(one.look(*one.line_up(writes)).granted);
    const std::string number = nodes().front().substr(nodes().front().size() - 10);
    const ask reads = beside(reading(one), writes);
    EXPECT_TRUE(one.look(*one.line_up(reads)).granted);
    const std::string node = node_prefix(node_form::curator, lock_kind::read, reads.owner) + number;
    EXPECT_TRUE(model.at("/holdfast/lock/" + node));
    const auto other = two.line_up(reading(two));
    EXPECT_FALSE(two.look(*other).granted);
    EXPECT_TRUE(one.release(writes));
    EXPECT_TRUE(two.look(*other).granted) << "it became a reader";
    EXPECT_FALSE(two.look(*two.line_up(writing(two))).granted);
    EXPECT_TRUE(one.release(reads));
}

TEST_F(SharedPlace, AReadUnderAWriteSurvivesALostAnswer) {
    party& one = enter();
    const ask writes = writing(one);
    EXPECT_TRUE(one.look(*one.line_up(writes)).granted);
    const ask reads = beside(reading(one), writes);
    const auto spot = one.line_up(reads);
    one.plan("create_and_list", {.answer_lost = true});
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    EXPECT_TRUE(one.look(*spot).granted);
    EXPECT_THAT(nodes(), SizeIs(2));
}

TEST_F(SharedPlace, AnUpgradeWaitsForTheOtherReadersOnly) {
    party& one = enter();
    party& two = enter();
    const ask mine = reading(one), his = reading(two);
    EXPECT_TRUE(one.look(*one.line_up(mine)).granted);
    EXPECT_TRUE(two.look(*two.line_up(his)).granted);
    const ask upgrade = beside(writing(one), mine);
    const auto spot = one.line_up(upgrade);
    EXPECT_FALSE(one.look(*spot).granted);
    EXPECT_TRUE(two.release(his));
    EXPECT_TRUE(one.look(*spot).granted);
    EXPECT_FALSE(two.look(*two.line_up(reading(two))).granted);
    const auto seen = run(two.store->operators_view().describe({"lock"}));
    ASSERT_TRUE(seen);
    ASSERT_THAT(seen->owners, SizeIs(2));
    EXPECT_TRUE(seen->owners.front().writes) << "though its node comes later";
    EXPECT_EQ(seen->owners.front().text, to_string(upgrade.owner));
}

TEST_F(SharedPlace, OneOfTwoUpgradesIsTold) {
    party& one = enter();
    party& two = enter();
    const ask mine = reading(one), his = reading(two);
    EXPECT_TRUE(one.look(*one.line_up(mine)).granted);
    EXPECT_TRUE(two.look(*two.line_up(his)).granted);
    const auto first = one.line_up(beside(writing(one), mine));
    EXPECT_FALSE(one.look(*first).granted);
    const auto second = two.line_up(beside(writing(two), his));
    EXPECT_EQ(code_of([&] { two.look(*second); }), errc::would_deadlock);
    run(second->leave());
    EXPECT_TRUE(two.release(his));
    EXPECT_TRUE(one.look(*first).granted);
}

TEST_F(SharedPlace, NothingStandsBesideAHoldThatIsGone) {
    party& one = enter();
    for (const bool reads : {true, false}) {
        const ask under = reads ? writing(one) : reading(one);
        EXPECT_TRUE(one.look(*one.line_up(under)).granted);
        const auto spot = one.line_up(beside(reads ? reading(one) : writing(one), under));
        EXPECT_TRUE(one.release(under));
        EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::lease_lost);
    }
    EXPECT_THAT(nodes(), SizeIs(0));
}

TEST_F(SharedPlace, AHoldBesideOneThatSomebodyDeletedIsNotGranted) {
    party& one = enter();
    const ask under = reading(one);
    EXPECT_TRUE(one.look(*one.line_up(under)).granted);
    model.erase("/holdfast/lock/" + nodes().front());
    const auto spot = one.line_up(beside(writing(one), under));
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::lease_lost);
    run(spot->leave());
    EXPECT_THAT(nodes(), SizeIs(0));
}

TEST_F(SharedPlace, KazoosFormHasItsMarks) {
    party& one = enter({.form = node_form::kazoo});
    party& two = enter();
    const ask reads = reading(one);
    EXPECT_TRUE(one.look(*one.line_up(reads)).granted);
    EXPECT_NE(nodes().front().find("__rlock__"), std::string::npos);
    EXPECT_TRUE(two.look(*two.line_up(reading(two))).granted) << "Curator's form counts it";
    EXPECT_FALSE(two.look(*two.line_up(writing(two))).granted);
}

} // namespace
} // namespace holdfast::zookeeper
