// SPDX-License-Identifier: Apache-2.0
#include "runtime/wall_clock.hpp"
#include "store/remote/trial_findings.hpp"

#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

using namespace std::chrono_literals;

TEST(TrialFindings, ALeaseIsShortForAWayThatTakesATenthOfIt) {
    EXPECT_EQ(judge_delay(100ms, 1s).how_bad, severity::fine);
    EXPECT_EQ(judge_delay(100ms, 1s).remedy, "");
    const finding slow = judge_delay(101ms, 1s);
    EXPECT_EQ(slow.how_bad, severity::warning);
    EXPECT_EQ(slow.what, "it answers within 101 ms");
    EXPECT_EQ(slow.remedy, "A lease of 1000 ms is short for that way: give a longer lease_time.");
}

TEST(TrialFindings, ClocksThatAreASecondApartAreNoted) {
    const auto now = runtime::wall_clock_time();
    EXPECT_EQ(judge_clock(now).how_bad, severity::fine);
    EXPECT_EQ(judge_clock(now + 1h).how_bad, severity::note);
    EXPECT_EQ(judge_clock(now - 1h).how_bad, severity::note);
}

} // namespace
} // namespace holdfast::remote
