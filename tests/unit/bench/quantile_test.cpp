// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/quantile.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using lengths = std::vector<std::chrono::nanoseconds>;

TEST(Quantile, LiesBetweenTwoValuesIfNeedBe) {
    const std::vector<double> all{40, 10, 30, 20};
    EXPECT_DOUBLE_EQ(quantile(all, 0), 10);
    EXPECT_DOUBLE_EQ(quantile(all, 0.5), 25);
    EXPECT_DOUBLE_EQ(quantile(all, 0.9), 37);
    EXPECT_DOUBLE_EQ(quantile(all, 1), 40);
    EXPECT_DOUBLE_EQ(quantile({7}, 0.5), 7);
}

TEST(Quantile, HalfOfTheValuesLieWithinTheSpread) {
    const spread it = spread_of({1, 2, 3, 4, 1000});
    EXPECT_DOUBLE_EQ(it.median, 3);
    EXPECT_DOUBLE_EQ(it.low, 2);
    EXPECT_DOUBLE_EQ(it.high, 4);
}

TEST(Percentile, IsOneOfTheSamplesInMicroseconds) {
    lengths all;
    for (int i = 100; i >= 0; --i)
        all.push_back(i * 1500ns);
    EXPECT_DOUBLE_EQ(percentile_us(all, 0), 0);
    EXPECT_DOUBLE_EQ(percentile_us(all, 0.5), 75);
    EXPECT_DOUBLE_EQ(percentile_us(all, 0.99), 148.5);
    EXPECT_DOUBLE_EQ(percentile_us(all, 1), 150);
}

TEST(Distribution, OfNothingIsNothing) {
    EXPECT_TRUE(distribution_of({}).empty());
}

TEST(Distribution, RisesFromTheLeastToTheGreatest) {
    lengths all;
    for (int i = 1; i <= 100'001; ++i)
        all.push_back(i * 1us);
    std::shuffle(all.begin(), all.end(), std::minstd_rand{1});
    const std::vector<mark> marks = distribution_of(all);
    EXPECT_DOUBLE_EQ(marks.front().us, 1);
    EXPECT_DOUBLE_EQ(marks.back().us, 100'001);
    for (const mark& each : marks)
        EXPECT_NEAR(each.us, 1 + 100'000 * each.part, 1) << each.part;
    EXPECT_TRUE(std::is_sorted(marks.begin(), marks.end(),
                               [](const mark& a, const mark& b) { return a.part < b.part; }));
}

} // namespace
} // namespace holdfast::bench
