// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/session_term.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr duration timeout{6000};
const duration believed = timeout - drift(timeout);

time_point moment(int ms) {
    return time_point{std::chrono::hours{1} + duration{ms}};
}

class SessionTerm : public ::testing::Test {
protected:
    /// A request that is answered so soon.
    void ask(int ms, int answered_after = 0) {
        term_.answered(moment(ms), moment(ms + answered_after));
    }
    void expect_from(int ms) { EXPECT_EQ(term_.alive_until(), moment(ms) + believed); }

    session_term term_;
};

TEST_F(SessionTerm, OfNoSessionIsOver) {
    EXPECT_EQ(term_.alive_until(), time_point::min());
    ask(0);
    term_.write_answered(moment(0));
    term_.forget();
    EXPECT_EQ(term_.alive_until(), time_point::min());
}

TEST_F(SessionTerm, BeginsWithTheOpeningAtOnce) {
    term_.opened(moment(10), timeout);
    expect_from(10);
}

TEST_F(SessionTerm, NothingCountsThatOnlyOneServerSaid) {
    term_.opened(moment(0), timeout);
    for (int ms = 100; ms < 20'000; ms += 100)
        ask(ms); // pings, reads and syncs, all answered
    expect_from(0);
}

TEST_F(SessionTerm, ARequestCountsOnceAWriteOfHalfATimeoutLaterIsAnswered) {
    term_.opened(moment(0), timeout);
    ask(1000);
    ask(3999);
    term_.write_answered(moment(3999));
    expect_from(0);
    ask(4000);
    term_.write_answered(moment(4000));
    expect_from(1000);
}

// It may have been on its way for all that time, so that the follower has just heard it.
TEST_F(SessionTerm, HalfATimeoutIsCountedFromTheAnswer) {
    term_.opened(moment(0), timeout);
    ask(1000, 900);
    term_.write_answered(moment(4899));
    expect_from(0);
    term_.write_answered(moment(4900));
    expect_from(1000);
}

TEST_F(SessionTerm, TheNewestOfThoseThatAreOldEnoughCounts) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 4500; ms += 500)
        ask(ms);
    term_.write_answered(moment(4500));
    expect_from(1500);
}

TEST_F(SessionTerm, AWriteCountsFromWhenItWasSentHoweverLateItIsAnswered) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 6000; ms += 500)
        ask(ms);
    term_.write_answered(moment(4500));
    expect_from(1500);
}

TEST_F(SessionTerm, ToResumeCountsOnceAnyWriteBehindItIsAnswered) {
    term_.opened(moment(0), timeout);
    term_.resumed(moment(5000), timeout);
    expect_from(0); // a leader that is cut off would have said the same
    ask(5001);
    term_.write_answered(moment(5001));
    expect_from(5000);
}

TEST_F(SessionTerm, WhatAnotherServerHeardBeforeTheResumptionCountsNoMore) {
    term_.opened(moment(0), timeout);
    ask(2000); // heard by a follower that died
    term_.resumed(moment(1000), timeout);
    ask(5500);
    term_.write_answered(moment(5500));
    expect_from(1000);
}

TEST_F(SessionTerm, NeverGoesBack) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 9000; ms += 500)
        ask(ms);
    term_.write_answered(moment(9000));
    expect_from(6000);
    term_.write_answered(moment(8000));
    expect_from(6000);
}

TEST_F(SessionTerm, ManyRequestsAreRememberedAsFew) {
    term_.opened(moment(0), timeout);
    for (int ms = 0; ms < 3'600'000; ++ms)
        ask(ms);
    term_.write_answered(moment(3'599'999));
    const duration lost = moment(3'596'999) + believed - term_.alive_until();
    EXPECT_GE(lost, 0ms);
    EXPECT_LE(lost, timeout / 64);
}

TEST_F(SessionTerm, ClocksMayDifferByOnePercent) {
    EXPECT_EQ(drift(10'000ms), 102ms);
    EXPECT_EQ(drift(2ms), 1ms) << "something is left of any";
}

} // namespace
} // namespace holdfast::zookeeper
