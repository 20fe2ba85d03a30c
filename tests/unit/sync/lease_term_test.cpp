// SPDX-License-Identifier: Apache-2.0
#include "sync/lease_term.hpp"

#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

using namespace std::chrono_literals;

constexpr time_point noon{std::chrono::hours{12}};
constexpr duration ten_years = std::chrono::hours{24 * 3652};

TEST(LeaseTerm, TheMarginIsOnePercentAndTwoMilliseconds) {
    EXPECT_EQ(margin(30s), 302ms);
    EXPECT_EQ(margin(1s), 12ms);
    EXPECT_EQ(margin(100ms), 3ms);
}

TEST(LeaseTerm, TheMarginOfAShortLeaseIsHalfOfItAtMost) {
    EXPECT_EQ(margin(4ms), 2ms);
    EXPECT_EQ(margin(3ms), 1ms);
    EXPECT_EQ(margin(1ms), 0ms);
}

TEST(LeaseTerm, ALeaseCountsFromWhenItsRequestWasSent) {
    EXPECT_EQ(believed_until(noon, 30s), noon + 30s - 302ms);
}

TEST(LeaseTerm, EveryAllowedLeaseIsBelievedForAtLeastHalfOfItAndNeverForMore) {
    for (duration lease = 1ms; lease <= ten_years; lease = lease * 3 / 2 + 1ms) {
        EXPECT_GT(believed_until(noon, lease), noon) << lease.count();
        EXPECT_GE(believed_until(noon, lease), noon + lease / 2) << lease.count();
        EXPECT_LE(believed_until(noon, lease), noon + lease) << lease.count();
    }
}

TEST(LeaseTerm, AMomentTooFarAwayIsNever) {
    EXPECT_EQ(later(noon, duration::max()), time_point::max());
    EXPECT_EQ(later(time_point::max(), 1ms), time_point::max());
    EXPECT_EQ(later(time_point::max() - 1ms, 1ms), time_point::max());
    EXPECT_EQ(later(time_point::max() - 2ms, 1ms), time_point::max() - 1ms);
    EXPECT_EQ(later(noon, 0ms), noon);
}

TEST(LeaseTerm, RenewalLeavesRoomForTwoFailuresBeforeTheEnd) {
    EXPECT_EQ(renewal_period(30s), 10s);
    EXPECT_EQ(danger_period(30s), 10s);
    for (duration lease = 100ms; lease <= ten_years; lease *= 3)
        EXPECT_LE(2 * renewal_period(lease) + danger_period(lease), lease) << lease.count();
}

TEST(LeaseTerm, TheShortestLeaseIsRenewedOnceAMillisecondAndNotWithoutPause) {
    EXPECT_EQ(renewal_period(1ms), 1ms);
    EXPECT_EQ(renewal_period(2ms), 1ms);
    EXPECT_EQ(retry_period(1ms, 1ms), 1ms);
}

TEST(LeaseTerm, AFailedRenewalIsRepeatedAfterATenthOfTheLeaseAndWithinASecond) {
    EXPECT_EQ(retry_period(3s, 2s), 300ms);
    EXPECT_EQ(retry_period(30s, 20s), 1s);
    EXPECT_EQ(retry_period(ten_years, ten_years), 1s);
}

TEST(LeaseTerm, ShortBeforeTheEndTheLastRepetitionsComeSooner) {
    EXPECT_EQ(retry_period(30s, 2s), 500ms);
    EXPECT_EQ(retry_period(30s, 10ms), 100ms) << "but they do not spin";
}

TEST(LeaseTerm, AnAnswerIsWaitedForForAPartOfWhatIsLeft) {
    EXPECT_EQ(answer_period(3s), 682ms);
    EXPECT_EQ(answer_period(20s), 5461ms);
    EXPECT_EQ(answer_period(20s), answer_period(19s)) << "they travel together";
    EXPECT_EQ(answer_period(500ms), 300ms);
    EXPECT_EQ(answer_period(-1s), 300ms);
    for (duration left = 1s; left <= ten_years; left = left * 3 / 2) {
        EXPECT_LE(answer_period(left), left / 3) << left.count();
        EXPECT_GE(answer_period(left), std::min(left / 7, answer_period(1s))) << left.count();
    }
}

TEST(LeaseTerm, ARenewalThatIsNotAnsweredLeavesRoomForAnother) {
    for (duration lease = 1s; lease <= ten_years; lease = lease * 5 / 4) {
        const duration term = lease - margin(lease);
        duration left = term - renewal_period(lease);
        left -= answer_period(left);
        left -= retry_period(lease, left);
        EXPECT_GE(left, lease / 5) << lease.count();
        if (lease >= 5s) {
            EXPECT_GE(left, danger_period(lease)) << "it is not even warned: " << lease.count();
        }
    }
}

} // namespace
} // namespace holdfast::sync
