// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/figures.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

namespace holdfast::bench {
namespace {

using testing::ElementsAre;
using testing::Field;

turn with_rate(double per_second) {
    return {.per_second = per_second,
            .p50_us = 1e6 / per_second,
            .p99_us = 2e6 / per_second,
            .client_cpu_us = 3,
            .server_cpu_us = 4,
            .memory_kb = 5,
            .commands = 6,
            .server_share = 7};
}

/// A machine that is half as fast in one round as in another, for both sides alike.
const std::vector<round> rounds = {{with_rate(300), with_rate(100)},
                                   {with_rate(150), with_rate(50)},
                                   {with_rate(280), with_rate(70)}};

figure first_of(const goals& wanted) {
    return figures("x", pairs, wanted, rounds).front();
}

figure p50_of(const goals& wanted) {
    return figures("x", pairs, wanted, rounds).at(1);
}

TEST(Figures, AreNamedAfterTheContest) {
    EXPECT_THAT(figures("x.1", pairs, {}, rounds),
                ElementsAre(Field(&figure::name, "x.1"), Field(&figure::name, "x.1.p50"),
                            Field(&figure::name, "x.1.p99"), Field(&figure::name, "x.1.client_cpu"),
                            Field(&figure::name, "x.1.server_cpu")));
    EXPECT_THAT(figures("server-cpu", server_time, {}, rounds),
                ElementsAre(Field(&figure::name, "server-cpu")));
}

TEST(Figures, OfWhoWaitsAreWhatOneCostsTheServer) {
    const std::vector<figure> all = figures("x", waits, {{".server_cpu", {.value = 7}}}, rounds);
    EXPECT_THAT(all, ElementsAre(Field(&figure::name, "x.server_cpu")));
    EXPECT_DOUBLE_EQ(all.front().ours.median, 7);
    EXPECT_EQ(all.front().unit, "% of a core");
    EXPECT_EQ(all.front().holds(), true);
    EXPECT_EQ(figures("x", waits, {{".server_cpu", {.value = 6.9}}}, rounds).front().holds(),
              false);
}

TEST(Figures, HaveTheMedianOfTheRoundsOwnRatios) {
    const figure it = first_of({});
    EXPECT_DOUBLE_EQ(it.ours.median, 280);
    EXPECT_DOUBLE_EQ(it.yardstick->median, 70);
    EXPECT_DOUBLE_EQ(it.ratio->median, 3); // and not 280/70
    EXPECT_DOUBLE_EQ(it.ratio->low, 3);
    EXPECT_DOUBLE_EQ(it.ratio->high, 3.5);
}

TEST(Goal, OfARateIsTheLeastThatWillDo) {
    EXPECT_EQ(first_of({{"", {.ratio = 2.9}}}).holds(), true);
    EXPECT_EQ(first_of({{"", {.ratio = 3}}}).holds(), true);
    EXPECT_EQ(first_of({{"", {.ratio = 3.1}}}).holds(), false);
}

TEST(Goal, OfATimeIsTheMostThatWillDo) {
    EXPECT_EQ(p50_of({{".p50", {.ratio = 0.34}}}).holds(), true);
    EXPECT_EQ(p50_of({{".p50", {.ratio = 0.33}}}).holds(), false);
}

TEST(Goal, MayBeOfTheValueItself) {
    EXPECT_EQ(first_of({{"", {.value = 280}}}).holds(), true);
    EXPECT_EQ(first_of({{"", {.value = 281}}}).holds(), false);
    EXPECT_EQ(p50_of({{".p50", {.value = 1e6 / 280}}}).holds(), true);
    EXPECT_EQ(p50_of({{".p50", {.value = 3500}}}).holds(), false);
}

TEST(Goal, OfBothHoldsWhenBothDo) {
    EXPECT_EQ(first_of({{"", {.ratio = 3, .value = 280}}}).holds(), true);
    EXPECT_EQ(first_of({{"", {.ratio = 3, .value = 281}}}).holds(), false);
    EXPECT_EQ(first_of({{"", {.ratio = 3.1, .value = 280}}}).holds(), false);
}

TEST(Goal, IsOnlyThatOfItsFigure) {
    EXPECT_EQ(p50_of({{"", {.ratio = 3}}}).holds(), std::nullopt);
    EXPECT_EQ(first_of({}).holds(), std::nullopt);
}

TEST(Goal, OfNoFigureIsAMistake) {
    EXPECT_THROW(first_of({{".p5O", {.ratio = 1}}}), std::logic_error);
    EXPECT_THROW(
        figures("x", {{".bits", {.value = 1}}}, {{".bytes", "bytes/lease", better::lower, 400}}),
        std::logic_error);
}

TEST(Figures, MayTellHowMuchMoreItIsInPlaceOfARatio) {
    const discipline halves = {{"", "pairs/s more", better::higher, &turn::per_second, 2}};
    const figure it = figures("x", halves, {}, rounds).front();
    EXPECT_DOUBLE_EQ(it.ours.median, 100); // of 100, 50 and 105
    EXPECT_FALSE(it.yardstick);
    EXPECT_FALSE(it.ratio);
}

TEST(Comparison, HasTheRatiosOfNeighbours) {
    const auto seen = [](std::vector<double> yardstick) {
        const std::vector<comparison> all = {
            {".waiter", "s", better::lower, {1, 2, 6}, std::move(yardstick)}};
        return figures("x", {{".waiter", {.value = 2}}}, all).front();
    };
    const figure beside = seen({2, 2, 3});
    EXPECT_EQ(beside.name, "x.waiter");
    EXPECT_DOUBLE_EQ(beside.yardstick->median, 2);
    EXPECT_DOUBLE_EQ(beside.ratio->median, 1);
    EXPECT_EQ(beside.holds(), true);
    EXPECT_FALSE(seen({}).ratio) << "nobody was there to compare with";
    EXPECT_EQ(seen({}).holds(), true);
}

TEST(Comparison, WithWhatTookNoTimeHasNoRatio) {
    const figure it =
        figures("x", {}, std::vector<comparison>{{".free", "s", better::lower, {0, 1}, {0, 2}}})
            .front();
    EXPECT_DOUBLE_EQ(it.yardstick->median, 1);
    EXPECT_FALSE(it.ratio);
}

TEST(Sighting, IsHeldAgainstItsValueAlone) {
    const auto seen = [](goal wanted) {
        return figures("x", {{".bytes", wanted}}, {{".bytes", "bytes/lease", better::lower, 400}})
            .front();
    };
    EXPECT_EQ(seen({.value = 500}).name, "x.bytes");
    EXPECT_EQ(seen({.value = 500}).holds(), true);
    EXPECT_EQ(seen({.value = 399}).holds(), false);
    EXPECT_EQ(seen({.ratio = 1}).holds(), false) << "there is nothing to compare with";
    EXPECT_FALSE(seen({}).yardstick);
}

} // namespace
} // namespace holdfast::bench
