// SPDX-License-Identifier: Apache-2.0
// Deadlines, lost answers and clocks that jump: what a place of the Redis store may believe.
#include "store_fixture.hpp"

namespace holdfast {
namespace {

class RedisPlaceInDoubt : public on_scripted_node {
protected:
    void line_up(duration patience = duration::max()) {
        place_ = store_.line_up(want(patience), *wake_);
    }
    answer look() { return complete(place_->look()); }
    void busy(duration takes = {}) { node_.will_answer({0, 20'000, server_time}, takes); }
    void granted() { node_.will_answer({1, 30'000, server_time}); }
    void late(duration takes = {}) { node_.will_answer({2, 0, server_time}, takes); }
    void lost(duration after = {}) {
        node_.will_fail(make_error_code(errc::outcome_unknown), after);
    }

    std::unique_ptr<place> place_;
};

TEST_F(RedisPlaceInDoubt, TheFirstRequestHasTheWholeTimeLimitAndLaterOnesTheCallers) {
    line_up(duration{1'000});
    busy();
    look();
    EXPECT_EQ(node_.asked[0].deadline, node_.asked[0].at + node_.command_timeout());
    busy();
    look();
    EXPECT_EQ(node_.asked[1].deadline, node_.asked[0].at + duration{1'000});
}

TEST_F(RedisPlaceInDoubt, APatientCallersRequestsHaveTheWholeTimeLimit) {
    line_up();
    busy();
    look();
    busy();
    look();
    EXPECT_EQ(node_.asked[1].deadline, node_.asked[1].at + node_.command_timeout());
    EXPECT_EQ(place_->settled_at(), *node_.asked[1].deadline);
}

TEST_F(RedisPlaceInDoubt, EachAnswerTeachesTheServersClock) {
    line_up();
    EXPECT_FALSE(node_.server_clock().known());
    node_.will_answer({0, 20'000, 0}); // may not tell the time
    look();
    EXPECT_FALSE(node_.server_clock().known());
    busy();
    look();
    EXPECT_TRUE(node_.server_clock().known());
}

TEST_F(RedisPlaceInDoubt, LateMeansTheClockWasMisjudgedAndIsAskedAgainAtOnce) {
    node_.server_clock().learn(clock_.now(), clock_.now(), std::chrono::microseconds{1});
    line_up();
    late();
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_EQ(node_.asked.size(), 2u);
    const auto learnt = node_.server_clock().no_later_than(clock_.now());
    EXPECT_NEAR(learnt->count(), server_time, 2'000);
}

TEST_F(RedisPlaceInDoubt, LateTwiceIsAFailureAndNothingIsHeld) {
    line_up();
    late();
    late();
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
    EXPECT_FALSE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, LateByAnotherConnectionIsThatOnesOwnMistake) {
    line_up();
    late();
    node_.by_another_connection();
    late();
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_EQ(node_.asked.size(), 3u);
}

TEST_F(RedisPlaceInDoubt, LateByOneConnectionAfterAnotherEndsSomewhere) {
    line_up();
    for (int i = 0; i < 3; ++i) {
        node_.by_another_connection();
        late();
    }
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
}

TEST_F(RedisPlaceInDoubt, LateAfterASlowJourneyIsNoMatterOfClocks) {
    line_up();
    late(duration{2'000});
    EXPECT_EQ(failure_of(place_->look()), errc::unreachable);
    EXPECT_EQ(node_.asked.size(), 1u);
}

TEST_F(RedisPlaceInDoubt, LateTellsNothingOfAnEarlierRequest) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    clock_.run_for(duration{4'000}); // it cannot be granted any more, but it may have been
    late();
    late();
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
    EXPECT_TRUE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, LateForTheCallersOwnLimitIsBusyUntilThen) {
    line_up(duration{1'000});
    busy();
    look();
    late();
    late();
    const answer said = look();
    EXPECT_FALSE(said.granted);
    EXPECT_EQ(clock_.now() + said.term, node_.asked[0].at + duration{1'000});
}

TEST_F(RedisPlaceInDoubt, ALostAnswerMayBeAGrant) {
    line_up();
    EXPECT_FALSE(place_->uncertain());
    EXPECT_EQ(place_->settled_at(), time_point::min());
    lost(duration{100});
    EXPECT_EQ(failure_of(place_->look()), errc::outcome_unknown);
    EXPECT_TRUE(place_->uncertain());
    EXPECT_EQ(place_->settled_at(), *node_.asked[0].deadline);
    node_.will_answer({0, 0});
    complete(place_->leave());
    EXPECT_EQ(node_.asked[1].script, "release_mutex");
    EXPECT_TRUE(place_->uncertain()); // that release may have overtaken it
}

TEST_F(RedisPlaceInDoubt, AnAnswerDoesNotSettleAnEarlierRequestThatMayStillArrive) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    busy();
    look();
    EXPECT_TRUE(place_->uncertain());
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_TRUE(place_->uncertain());
    EXPECT_GE(place_->settled_at(), *node_.asked[0].deadline);
}

TEST_F(RedisPlaceInDoubt, AnAnswerAfterTheDeadlineOfALostOneSettlesIt) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    clock_.run_for(duration{4'000});
    busy();
    look();
    EXPECT_FALSE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, WhatWasNeverCarriedOutChangesNothing) {
    line_up();
    for (const error_code why :
         {make_error_code(errc::unreachable), make_error_code(store_errc::out_of_memory),
          make_error_code(store_errc::loading), make_error_code(errc::overloaded),
          make_error_code(errc::closed)}) {
        node_.will_fail(why);
        EXPECT_EQ(failure_of(place_->look()), why);
        EXPECT_FALSE(place_->uncertain()) << why.message();
        EXPECT_EQ(place_->settled_at(), time_point::min());
    }
}

TEST_F(RedisPlaceInDoubt, AnyOtherErrorLeavesItOpen) {
    for (const error_code why :
         {make_error_code(store_errc::script_killed), make_error_code(store_errc::protocol),
          error_code{asio::error::operation_aborted}}) {
        line_up();
        node_.will_fail(why);
        EXPECT_EQ(failure_of(place_->look()), why);
        EXPECT_TRUE(place_->uncertain()) << why.message();
    }
}

TEST_F(RedisPlaceInDoubt, AnAnswerThatNoScriptGivesIsNotBelieved) {
    for (const std::vector<std::int64_t>& odd : std::vector<std::vector<std::int64_t>>{
             {}, {1}, {1, 2}, {3, 0, 0}, {-1, 0, 0}, {1, 2, 3, 4}}) {
        line_up();
        node_.will_answer(odd);
        EXPECT_EQ(failure_of(place_->look()), errc::outcome_unknown);
        EXPECT_TRUE(place_->uncertain());
    }
}

TEST_F(RedisPlaceInDoubt, NothingIsAskedAfterTheCallersLimit) {
    line_up(duration{50});
    busy(duration{100});
    look();
    EXPECT_FALSE(look().granted);
    EXPECT_EQ(node_.asked.size(), 1u);
}

} // namespace
} // namespace holdfast
