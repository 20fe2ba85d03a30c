// SPDX-License-Identifier: Apache-2.0
#include "mysql/judgement.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using outcome = judgement::outcome;

said well(bool open = false) {
    said one;
    one.open = open;
    return one;
}
said changing(bool open = false) {
    said one = well(open);
    one.what.matched = 1;
    return one;
}
said failing() {
    said one;
    one.what.error = 1205;
    return one;
}

outcome came_of(const std::vector<said>& all, bool was_open = false, call_wishes wishes = {}) {
    return judge(all, was_open, wishes).what;
}
call_wishes leaves_open() {
    call_wishes wishes;
    wishes.leaves_open = true;
    return wishes;
}
call_wishes rest_is_hint() {
    call_wishes wishes;
    wishes.rest_is_hint = true;
    return wishes;
}

TEST(MysqlJudgement, AllWellIsCarriedOut) {
    EXPECT_EQ(came_of({well()}), outcome::carried_out);
    EXPECT_EQ(came_of({well(true), well(true), well()}), outcome::carried_out);
}

TEST(MysqlJudgement, ATransactionMayStayOpenOnlyWhereThatIsWished) {
    EXPECT_EQ(came_of({well(true)}), outcome::unknown);
    EXPECT_EQ(came_of({well(true)}, false, leaves_open()), outcome::left_open);
    EXPECT_EQ(came_of({well()}, true, leaves_open()), outcome::carried_out);
}

TEST(MysqlJudgement, TheFirstErrorMeansThatNothingWasDone) {
    EXPECT_EQ(came_of({failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}, false, rest_is_hint()), outcome::not_carried_out);
}

TEST(MysqlJudgement, AnErrorBehindWhatWasDoneIsUnknownUnlessItIsAHint) {
    EXPECT_EQ(came_of({well(), failing()}), outcome::unknown);
    EXPECT_EQ(came_of({well(), failing()}, false, rest_is_hint()), outcome::carried_out);
}

TEST(MysqlJudgement, AnErrorInATransactionIsRolledBackUnlessItWentOn) {
    EXPECT_EQ(came_of({well(true), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), failing(), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing(), well()}), outcome::unknown);
    EXPECT_EQ(came_of({well(true), failing(), changing(), well()}), outcome::unknown);
    EXPECT_EQ(came_of({failing()}, true), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}, true), outcome::unknown);
    EXPECT_EQ(came_of({well(true), failing()}, false, rest_is_hint()), outcome::not_carried_out);
}

TEST(MysqlJudgement, ACommitOfNothingIsNothing) {
    EXPECT_EQ(came_of({well(true), failing(), well()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), failing(), failing(), well(), well()}),
              outcome::not_carried_out);
}

TEST(MysqlJudgement, ALockWaitIsAnAnswerOnlyWhereItIsWished) {
    call_wishes wishes;
    wishes.may_meet_lock = 1;
    EXPECT_EQ(came_of({well(true), failing(), well()}, false, wishes), outcome::met_lock);
    EXPECT_EQ(came_of({well(true), failing(), failing()}, false, wishes), outcome::met_lock);
    EXPECT_EQ(came_of({failing(), well()}, false, wishes), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing(), well()}, false, wishes),
              outcome::unknown);
    said other = failing();
    other.what.error = 1213;
    EXPECT_EQ(came_of({well(true), other, changing()}, false, wishes), outcome::unknown);
}

TEST(MysqlJudgement, TellsWhichWasTheFirst) {
    EXPECT_EQ(judge(std::vector{well(), failing(), failing()}, false, {}).failed, 1u);
    EXPECT_EQ(judge(std::vector{well(), well()}, false, {}).failed, 2u);
}

} // namespace
} // namespace holdfast::mysql
