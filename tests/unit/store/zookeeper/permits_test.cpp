// SPDX-License-Identifier: Apache-2.0
// Curator's semaphore, and how many permits it has.
#include "store/zookeeper/formats.hpp"
#include "support/thrown.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/error.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using support::code_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;
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

TEST_F(PermitPlace, WithoutPatienceNothingIsWrittenWhereThereAreTooFew) {
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
