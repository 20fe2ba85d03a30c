// SPDX-License-Identifier: Apache-2.0
// Plays simulated worlds in which clients hand a mutex on directly. HOLDFAST_HAND_OFF_SEEDS is the
// number of fresh seeds, and HOLDFAST_HAND_OFF_FROM the first of them.
#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::handing {
namespace {

/// Number of scripts for each acquisition that a crowded world without faults may need at most.
constexpr double scripts_each_most = 2.2;

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
    const char* const text = std::getenv(variable);
    return text ? std::stoull(text) : usual;
}

/// Plays worlds, and returns the number of seeds that break a rule. Stops at `failures_most`.
int play(std::uint64_t from, std::uint64_t count, int failures_most, bool aloud,
         const server::edit* fault = nullptr) {
    int failures = 0;
    double most_scripts = 0;
    std::size_t acquisitions = 0, outside = 0;
    for (std::uint64_t seed = from; seed < from + count && failures < failures_most; ++seed) {
        world played{seed, fault};
        std::string said = played.play();
        acquisitions += played.acquisitions;
        outside += played.waited_outside;
        most_scripts = std::max(most_scripts, played.scripts_each);
        if (said.empty() && played.scripts_each > scripts_each_most)
            said = "an acquisition costs " + std::to_string(played.scripts_each) + " scripts";
        if (said.empty())
            continue;
        ++failures;
        if (aloud)
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), said.c_str());
    }
    if (aloud)
        std::printf("seeds from %llu: %zu acquisitions, %zu of waiting clients without a hand-off, "
                    "at most %.3f scripts for each in a crowded world\n",
                    static_cast<unsigned long long>(from), acquisitions, outside, most_scripts);
    return failures;
}

TEST(HandOffWorld, FixedSeedsBreakNoRule) {
    EXPECT_EQ(play(1, 150, 3, true), 0);
}

TEST(HandOffWorld, FreshSeedsBreakNoRule) {
    const std::uint64_t count = number_from("HOLDFAST_HAND_OFF_SEEDS", 100);
    EXPECT_EQ(play(number_from("HOLDFAST_HAND_OFF_FROM", std::random_device{}()), count, 5, true),
              0);
}

/// A rule finds each fault that is planted in a script.
class HandOffFault : public ::testing::TestWithParam<server::edit> {};

TEST_P(HandOffFault, IsFoundInFewSeeds) {
    EXPECT_EQ(play(1, 1000, 1, false, &GetParam()), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, HandOffFault,
    ::testing::Values(
        server::edit{"release_to_queue", "take_hold(KEYS[1], owner, ARGV[5])",
                     "take_hold(KEYS[1], owner, '6000')"},
        server::edit{"release_to_queue", "receivers ~= 0", "true"},
        server::edit{"release_to_queue", "return clock.err or clock[2] % 2 == 0", "return false"},
        server::edit{"release_to_queue", "return {1, tell(ARGV[2], '0', ARGV[9], ARGV[10]), 0}",
                     "return {1, 0, 0}"},
        server::edit{"release_to_queue", "if ended ~= 1 then", "if false then"},
        server::edit{"release_to_queue", "least, false)", "least, true)"},
        server::edit{"lock_in_queue", "local mine = holder == ARGV[2]", "local mine = left ~= -2"},
        server::edit{"lock_in_queue", "score_of(arrival, number)", "score_of(arrival, 1)"},
        server::edit{"lock_in_queue", "return {0, left, now, joins and 1 or 0, 0}",
                     "leave_queue(ARGV[6], ARGV[2]) return {0, left, now, 1, 0}"}));

} // namespace
} // namespace holdfast::handing
