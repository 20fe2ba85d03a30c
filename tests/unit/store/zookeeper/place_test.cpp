// SPDX-License-Identifier: Apache-2.0
// How one owner acquires a lock: which nodes it creates, which it watches, and which it leaves
// behind.
#include "store/zookeeper/nodes.hpp"
#include "support/recorder.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/counters.hpp>
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

TEST_F(Place, WithoutTimeoutNothingIsWrittenWhereSomebodyIs) {
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
    // Node of an earlier session of this client, which the ensemble has not ended yet.
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

TEST_F(Place, AnEmptyPathWhoseNumbersHaveEndedIsMadeAnew) {
    party& one = enter();
    for (const std::int64_t number : {(1LL << 31) - (1LL << 20), (1LL << 31) - 1, 1LL << 31}) {
        model.make(line_of_lock, node_mode::container, 0);
        model.set_next_number(line_of_lock, number);
        const ask want = one.wish("lock");
        EXPECT_TRUE(one.look(*one.line_up(want)).granted);
        ASSERT_THAT(model.children(line_of_lock), SizeIs(1));
        EXPECT_TRUE(model.children(line_of_lock).front().ends_with("0000000000"));
        EXPECT_TRUE(one.release(want));
    }
}

TEST_F(Place, AWornOutSequenceBesideOthersIsRefusedNotGuessed) {
    party& one = enter();
    for (const std::int64_t number : {(1LL << 31) - (1LL << 20), (1LL << 31) - 1, 1LL << 31}) {
        model.make(line_of_lock, node_mode::container, 0);
        model.make(line_of_lock + std::string{"/somebody"}, node_mode::ephemeral, 7);
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
        EXPECT_THAT(model.children(line_of_lock), SizeIs(1));
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

// Curator's read-write lock.

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

TEST_F(SharedPlace, SecondUpgradeOfOneHoldWaitsForTheFirst) {
    party& one = enter();
    party& two = enter();
    const ask mine = reading(one), his = reading(two);
    EXPECT_TRUE(one.look(*one.line_up(mine)).granted);
    EXPECT_TRUE(two.look(*two.line_up(his)).granted);
    const ask upgrade = beside(writing(one), mine);
    const auto first = one.line_up(upgrade);
    const auto second = one.line_up(beside(writing(one), mine));
    EXPECT_FALSE(one.look(*first).granted);
    EXPECT_FALSE(one.look(*second).granted) << "the first waits for a reader, and not for this one";
    EXPECT_TRUE(two.release(his));
    EXPECT_TRUE(one.look(*first).granted);
    EXPECT_FALSE(one.look(*second).granted) << "the first upgrade holds the lock";
    EXPECT_TRUE(one.release(upgrade));
    EXPECT_TRUE(one.look(*second).granted);
}

TEST_F(SharedPlace, SecondUpgradeBehindAnotherWriterFails) {
    party& one = enter();
    party& two = enter();
    const ask mine = reading(one);
    EXPECT_TRUE(one.look(*one.line_up(mine)).granted);
    const auto first = one.line_up(beside(writing(one), mine));
    EXPECT_TRUE(one.look(*first).granted);
    const auto writes = two.line_up(writing(two));
    EXPECT_FALSE(two.look(*writes).granted);
    const auto second = one.line_up(beside(writing(one), mine));
    EXPECT_EQ(code_of([&] { one.look(*second); }), errc::would_deadlock);
}

TEST_F(SharedPlace, WaitingUpgradeIsWokenWhenItsReadHoldIsDeleted) {
    party& one = enter();
    party& two = enter();
    const ask mine = reading(one);
    EXPECT_TRUE(one.look(*one.line_up(mine)).granted);
    const std::string node = "/holdfast/lock/" + nodes().front();
    EXPECT_TRUE(two.look(*two.line_up(reading(two))).granted);
    const auto spot = one.line_up(beside(writing(one), mine));
    EXPECT_FALSE(one.look(*spot).granted);
    const auto woken = woken_by(*one.wake);
    EXPECT_FALSE(*woken);
    model.erase(node);
    settle();
    EXPECT_TRUE(*woken);
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::lease_lost);
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

TEST_F(SharedPlace, RequestBesideALostHoldReportsTheOtherKindThatHasTheName) {
    party& one = enter();
    const std::string path = "/holdfast/lock";
    const std::string stranger = path + "/_c_8743c9c0-0795-4907-87fd-6c719a6b4586-lock-";
    for (const bool reads : {true, false})
        for (const bool waits : {true, false})
            for (const bool is_semaphore : {true, false}) {
                const ask under = reads ? writing(one) : reading(one);
                EXPECT_TRUE(one.look(*one.line_up(under)).granted);
                model.erase(path + "/" + nodes().front());
                std::vector<std::string> others;
                if (is_semaphore)
                    for (const char* folder : {"/leases", "/locks"})
                        others.push_back(model.make(path + folder, node_mode::persistent));
                else
                    others.push_back(model.make(stranger, node_mode::ephemeral_sequential));
                ask want = beside(reads ? reading(one) : writing(one), under);
                want.waits = waits;
                const auto spot = one.line_up(want);
                EXPECT_EQ(code_of([&] { one.look(*spot); }), store_errc::wrong_type)
                    << reads << waits << is_semaphore;
                EXPECT_THAT(nodes(), SizeIs(others.size())) << "its own node is deleted";
                for (const std::string& each : others)
                    model.erase(each);
                EXPECT_FALSE(one.release(under));
            }
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

// Curator's semaphore, and how many permits it has.

using ::testing::StartsWith;

class PermitPlace : public world {
protected:
    ask wanting(party& who, std::uint32_t permits) {
        ask want = who.wish("seats", lock_kind::permit);
        want.permits = permits;
        for (std::uint32_t i = 1; i < permits; ++i)
            (void)who.next_owner();
        return want;
    }
    /// Gets so many at once.
    ask take(party& who, std::uint32_t permits) {
        ask want = wanting(who, permits);
        EXPECT_TRUE(who.look(*who.line_up(want)).granted);
        return want;
    }
    counter_answer change(party& who, counter_verb verb, std::int64_t amount,
                          std::string permit = {}) {
        counter_change what{"seats", who.next_owner(), counter_kind::permits, verb, amount};
        what.permit = std::move(permit);
        return run(who.store->counters()->change(std::move(what)));
    }
    counter_state state(party& who) {
        return run(who.store->counters()->inspect({"seats"}, counter_kind::permits));
    }
    std::vector<std::string> leases() { return model.children("/holdfast/seats/leases"); }
    std::vector<std::string> locks() { return model.children("/holdfast/seats/locks"); }
};

TEST_F(PermitPlace, SeveralAreHadTogetherAsCuratorsLeases) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 3).done);
    const ask want = wanting(one, 2);
    const answer said = one.look(*one.line_up(want));
    EXPECT_TRUE(said.granted);
    EXPECT_GT(said.term, 5s);
    ASSERT_THAT(leases(), SizeIs(2));
    EXPECT_THAT(leases()[0], StartsWith(permit_prefix(want.owner)));
    EXPECT_THAT(locks(), IsEmpty()) << "the mutex is given back";
    EXPECT_EQ(state(one).value, 1);
    EXPECT_EQ(state(one).taken, 2);
    EXPECT_TRUE(one.release(want));
    EXPECT_EQ(state(one).value, 3);
}

TEST_F(PermitPlace, AllAreHadOrNone) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 3).done);
    const ask first = take(one, 2);
    const auto waits = two.line_up(wanting(two, 2));
    EXPECT_FALSE(two.look(*waits).granted);
    EXPECT_THAT(locks(), SizeIs(1)) << "it keeps others out meanwhile";
    EXPECT_THAT(leases(), SizeIs(2)) << "and has none";
    EXPECT_TRUE(one.release(first));
    EXPECT_TRUE(two.look(*waits).granted);
    EXPECT_THAT(locks(), IsEmpty());
}

TEST_F(PermitPlace, WhoWaitsIsRungByARelease) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 1).done);
    const ask first = take(one, 1);
    const auto waits = two.line_up(wanting(two, 1));
    EXPECT_FALSE(two.look(*waits).granted);
    const auto woken = woken_by(*two.wake);
    EXPECT_FALSE(*woken);
    EXPECT_TRUE(one.release(first));
    settle();
    EXPECT_TRUE(*woken);
    EXPECT_TRUE(two.look(*waits).granted);
}

TEST_F(PermitPlace, MoreThanThereAreIsRefused) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 2).done);
    const auto spot = one.line_up(wanting(one, 3));
    EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::invalid_argument);
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(PermitPlace, WithoutTimeoutNothingIsWrittenWhereThereAreTooFew) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 2).done);
    const ask first = take(one, 1);
    const std::size_t before = model.so_far().creates;
    ask want = wanting(one, 2);
    want.waits = false;
    const auto spot = one.line_up(want);
    EXPECT_FALSE(one.look(*spot).granted);
    EXPECT_FALSE(spot->must_leave());
    EXPECT_EQ(model.so_far().creates, before);
}

TEST_F(PermitPlace, GivingUpLeavesNothing) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 1).done);
    const ask first = take(one, 1);
    const auto spot = one.line_up(wanting(one, 1));
    EXPECT_FALSE(one.look(*spot).granted);
    EXPECT_TRUE(spot->must_leave());
    EXPECT_EQ(state(one).taken, 1) << "who waits has none";
    run(spot->leave());
    EXPECT_THAT(leases(), SizeIs(1));
    EXPECT_THAT(locks(), IsEmpty());
}

TEST_F(PermitPlace, CuratorsLeasesCountAndItsMutexIsWaitedFor) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 1).done);
    const std::string lease =
        model.make("/holdfast/seats/leases/_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-lease-",
                   node_mode::ephemeral_sequential);
    const std::string lock =
        model.make("/holdfast/seats/locks/_c_1f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-lock-",
                   node_mode::ephemeral_sequential);
    const auto spot = one.line_up(wanting(one, 1));
    EXPECT_FALSE(one.look(*spot).granted);
    EXPECT_THAT(leases(), SizeIs(1)) << "whoever has the mutex comes before";
    model.erase(lock);
    EXPECT_FALSE(one.look(*spot).granted);
    model.erase(lease);
    EXPECT_TRUE(one.look(*spot).granted);
}

TEST_F(PermitPlace, SurvivesLostAnswers) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 2).done);
    const ask want = wanting(one, 2);
    const auto spot = one.line_up(want);
    for (int i = 0; i < 3; ++i) { // the turn, and each permit
        one.plan("create_and_list", {.answer_lost = true});
        EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    }
    EXPECT_TRUE(one.look(*spot).granted);
    EXPECT_THAT(leases(), SizeIs(2));
    EXPECT_THAT(locks(), IsEmpty());
}

TEST_F(PermitPlace, TheNumberOfPermitsIsSetOnce) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 3).done);
    EXPECT_FALSE(change(one, counter_verb::set_new, 3).done);
    EXPECT_FALSE(change(one, counter_verb::set_new, 5).done);
    EXPECT_EQ(code_of([&] { change(one, counter_verb::set, 5); }), errc::refused);
    EXPECT_NO_THROW(change(one, counter_verb::set, 3));
    EXPECT_EQ(code_of([&] { change(one, counter_verb::add, 1); }), errc::refused);
    EXPECT_EQ(code_of([&] { change(one, counter_verb::take_back, 1); }), errc::refused);
    EXPECT_EQ(state(one).value, 3);
    EXPECT_TRUE(change(one, counter_verb::erase, 0).done);
    EXPECT_FALSE(state(one).exists);
    EXPECT_FALSE(model.at("/holdfast/seats"));
    EXPECT_TRUE(change(one, counter_verb::add, 4).done) << "there was none";
    EXPECT_EQ(state(one).value, 4);
}

TEST_F(PermitPlace, ANumberWhoseAnswerWasLostWasSetByTheSameRequest) {
    party& one = enter();
    const counter_change what{"seats", one.next_owner(), counter_kind::permits,
                              counter_verb::set_new, 3};
    EXPECT_TRUE(run(one.store->counters()->change(what)).done);
    EXPECT_TRUE(run(one.store->counters()->change(what)).done);
    counter_change other = what;
    other.request = one.next_owner();
    EXPECT_FALSE(run(one.store->counters()->change(other)).done);
}

TEST_F(PermitPlace, OneIsGivenBackByItsId) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 3).done);
    const ask want = take(one, 2);
    owner_id second = want.owner;
    ++second.number;
    EXPECT_FALSE(change(two, counter_verb::give_back, 0, std::string(32, 'a')).done);
    EXPECT_TRUE(change(two, counter_verb::give_back, 0, permit_id(second)).done);
    EXPECT_FALSE(change(two, counter_verb::give_back, 0, permit_id(second)).done);
    EXPECT_FALSE(one.release(want)) << "not all were there";
    EXPECT_THAT(leases(), IsEmpty());
}

TEST_F(PermitPlace, AHoldThatLostAPartGivesBackTheRest) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 3).done);
    const ask want = take(one, 3);
    EXPECT_TRUE(change(one, counter_verb::give_back, 0, permit_id(want.owner)).done);
    const hold* const held[] = {&want};
    single_renewal said;
    run(one.store->locks().renew(held, {.lease_time = 30s}, said));
    EXPECT_FALSE(said.said().granted);
    settle();
    EXPECT_THAT(leases(), IsEmpty());
    EXPECT_FALSE(one.release(want));
}

TEST_F(PermitPlace, OneOfTwoTotalsThatAreSetAtTheSameTimeWins) {
    party& one = enter();
    party& two = enter();
    const auto waits = one.line_up(wanting(one, 1));
    EXPECT_FALSE(one.look(*waits).granted); // its node has no total
    int done = 0, refused = 0;
    std::int64_t set = 0;
    for (party* const each : {&one, &two}) {
        const std::int64_t amount = each == &one ? 3 : 5;
        counter_change what{"seats", each->next_owner(), counter_kind::permits,
                            counter_verb::set_new, amount};
        asio::co_spawn(io, each->store->counters()->change(std::move(what)),
                       [&, amount](const std::exception_ptr& why, counter_answer said) {
                           EXPECT_FALSE(why);
                           (said.done ? done : refused) += 1;
                           if (said.done)
                               set = amount;
                       });
    }
    settle();
    EXPECT_EQ(done, 1);
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(state(one).value, set);
}

TEST_F(PermitPlace, FoldersAreMadeAnewBeforeTheirNumbersEnd) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 1).done);
    const std::vector<std::string> folders{"/holdfast/seats/leases", "/holdfast/seats/locks"};
    for (const std::string& each : folders)
        model.set_next_number(each, 1LL << 30);
    const ask want = take(one, 1);
    EXPECT_TRUE(one.release(want));
    for (const std::string& each : folders) {
        ASSERT_TRUE(model.at(each)) << "the name is still a semaphore's";
        EXPECT_TRUE(
            model.make(each + "/n-", node_mode::ephemeral_sequential).ends_with("-0000000000"));
    }
}

TEST_F(PermitPlace, GrantThatIsNotWantedIsForgottenAlthoughItsDeletionFailed) {
    party& one = enter();
    EXPECT_TRUE(change(one, counter_verb::set_new, 1).done);
    for (const lock_kind kind : {lock_kind::permit, lock_kind::plain}) {
        const ask want =
            kind == lock_kind::permit ? wanting(one, 1) : one.wish("lock", lock_kind::plain);
        auto spot = one.line_up(want);
        EXPECT_TRUE(one.look(*spot).granted);
        one.plan("remove", {.lost = true});
        EXPECT_EQ(code_of([&] { run(spot->leave()); }), errc::outcome_unknown);
        spot.reset();
        run(one.at->sync("/"));
        settle();
        EXPECT_THAT(leases(), IsEmpty());
        EXPECT_THAT(model.children(line_of_lock), IsEmpty());
        EXPECT_EQ(one.at->in_use().use_count(), 2) << "nothing keeps the session alive";
    }
}

TEST_F(PermitPlace, WhoWaitsUntilThereAreAnyIsToldOfTheNumber) {
    party& one = enter();
    party& two = enter();
    const auto spot = one.line_up(wanting(one, 1));
    EXPECT_FALSE(one.look(*spot).granted);
    const auto woken = woken_by(*one.wake);
    EXPECT_FALSE(*woken);
    EXPECT_TRUE(change(two, counter_verb::set_new, 1).done);
    settle();
    EXPECT_TRUE(*woken);
    EXPECT_TRUE(one.look(*spot).granted);
}

} // namespace
} // namespace holdfast::zookeeper
