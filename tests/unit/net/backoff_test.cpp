// SPDX-License-Identifier: Apache-2.0
#include "net/backoff.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, StaysWithinItsBounds) {
    backoff pauses{50ms, 2000ms};
    std::mt19937_64 random{1};
    for (int i = 0; i < 1000; ++i) {
        const duration pause = pauses.next(random());
        EXPECT_GE(pause, 50ms);
        EXPECT_LE(pause, 2000ms);
    }
}

TEST(Backoff, TheLongestPausesTripleUntilTheBound) {
    backoff pauses{50ms, 2000ms};
    // A random number that always gives the longest pause: one less than any number of choices.
    const auto longest = [&](duration highest) {
        return pauses.next(static_cast<std::uint64_t>((highest - 50ms).count()));
    };
    EXPECT_EQ(longest(150ms), 150ms);
    EXPECT_EQ(longest(450ms), 450ms);
    EXPECT_EQ(longest(1350ms), 1350ms);
    EXPECT_EQ(longest(2000ms), 2000ms);
    EXPECT_EQ(longest(2000ms), 2000ms);
}

TEST(Backoff, DiffersBetweenClients) {
    std::mt19937_64 random{1};
    std::set<duration> firsts;
    for (int i = 0; i < 100; ++i)
        firsts.insert(backoff{50ms, 2000ms}.next(random()));
    EXPECT_GT(firsts.size(), 30u);
}

TEST(Backoff, BeginsAnewWhenReset) {
    backoff pauses{50ms, 2000ms};
    for (int i = 0; i < 20; ++i)
        pauses.next(1'000'000'007);
    pauses.reset();
    EXPECT_LE(pauses.next(~0ull), 150ms);
}

TEST(Backoff, CopesWithExtremes) {
    EXPECT_EQ((backoff{5ms, 5ms}.next(123)), 5ms);
    EXPECT_EQ((backoff{5ms, 1ms}.next(123)), 5ms);
    EXPECT_EQ((backoff{0ms, 0ms}.next(123)), 1ms);
    backoff longest{duration::max() / 2, duration::max()};
    EXPECT_GE(longest.next(~0ull), duration::max() / 2);
    EXPECT_GE(longest.next(~0ull), duration::max() / 2);
}

} // namespace
} // namespace holdfast::net
