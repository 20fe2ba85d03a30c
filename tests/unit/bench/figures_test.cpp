// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/figures.hpp"
#include "bench/figures/samples.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

namespace json = boost::json;
using testing::HasSubstr;

const figure rate{.name = "gate.64",
                  .unit = "hand-offs/s",
                  .best = better::higher,
                  .ours = {120'000, 110'000, 130'000},
                  .yardstick = spread{3400, 3000, 3700},
                  .ratio = spread{35, 33, 36},
                  .wanted = {.ratio = 30, .value = 100'000}};

const figure bytes{.name = "renewal.100k.bytes",
                   .unit = "bytes/lease",
                   .best = better::lower,
                   .ours = {487.8, 487.8, 487.8},
                   .wanted = {.value = 500}};

json::object parsed(const std::string& line) {
    return json::parse(line).as_object();
}

TEST(JsonLine, TellsAFigureWithItsGoals) {
    EXPECT_EQ(parsed(json_line(rate)),
              parsed(R"({"name": "gate.64", "value": 120000, "unit": "hand-offs/s",
                         "yardstick": 3400, "ratio": 35, "goal": 30, "holds": true,
                         "better": "higher", "value_goal": 100000,
                         "value_spread": [110000, 130000], "yardstick_spread": [3000, 3700],
                         "ratio_spread": [33, 36]})"));
}

TEST(JsonLine, HasNullForWhatThereIsNot) {
    const json::object said = parsed(json_line(bytes));
    EXPECT_EQ(said.at("yardstick"), nullptr);
    EXPECT_EQ(said.at("ratio"), nullptr);
    EXPECT_EQ(said.at("goal"), nullptr);
    EXPECT_EQ(said.at("ratio_spread"), nullptr);
    EXPECT_EQ(said.at("holds"), true);

    figure endless = rate;
    endless.ratio->median = std::numeric_limits<double>::infinity();
    EXPECT_EQ(parsed(json_line(endless)).at("ratio"), nullptr);
    endless.wanted = {};
    EXPECT_EQ(parsed(json_line(endless)).at("holds"), nullptr);
}

TEST(JsonLine, OfSomethingSkippedHoldsNothingAndSaysWhy) {
    const json::object said = parsed(json_line_of_skipped("gate.64", "no \"java\"\nhere"));
    EXPECT_EQ(said.at("name"), "gate.64");
    EXPECT_EQ(said.at("value"), nullptr);
    EXPECT_EQ(said.at("holds"), nullptr);
    EXPECT_EQ(said.at("skipped"), "no \"java\" here");
}

TEST(JsonLine, TellsHowLongOneTook) {
    const outcome seen{.rounds = {}, .ours = {{0.5, 30}, {1, 40}}, .yardstick = {}};
    EXPECT_EQ(parsed(json_line("x", seen)),
              parsed(R"({"distribution": "x", "ours": [[0.5, 30], [1, 40]], "yardstick": []})"));
}

TEST(TableLine, ShowsBothGoalsAndTheirDirection) {
    EXPECT_THAT(table_line(rate), HasSubstr(">= 30, 100000"));
    EXPECT_THAT(table_line(bytes), HasSubstr("<= value 500"));
    EXPECT_THAT(table_line(rate), HasSubstr("yes"));
}

TEST(TableLine, StandsUnderItsHead) {
    const std::string head = table_head(), line = table_line(rate);
    EXPECT_EQ(head.find("unit"), line.find("hand-offs/s"));
    EXPECT_EQ(head.find("spread"), line.find("33.0..36.0"));
    EXPECT_EQ(head.find("holds"), line.find("yes"));
}

using testing::IsEmpty;

std::string refusal(std::string_view line) try {
    read_tally(line);
    return "none";
} catch (const std::runtime_error& said) {
    return said.what();
}

TEST(Tally, IsReadFromALine) {
    const tally told = read_tally("3 100000000 144000 150000 9223372036854775807");
    EXPECT_EQ(told.done, 3);
    EXPECT_EQ(told.elapsed, 100ms);
    EXPECT_THAT(told.samples, ElementsAre(144us, 150us, nanoseconds::max()));
}

TEST(Tally, MayHaveDoneMoreThanItSampledOrNothing) {
    EXPECT_EQ(read_tally("1000 5 7").done, 1000);
    EXPECT_THAT(read_tally("0 5").samples, IsEmpty());
}

TEST(Tally, IsReadAsItWasWritten) {
    const tally told = read_tally(line_of({.done = 2, .elapsed = 1s, .samples = {3us, 4us}}));
    EXPECT_EQ(told.done, 2);
    EXPECT_EQ(told.elapsed, 1s);
    EXPECT_THAT(told.samples, ElementsAre(3us, 4us));
    EXPECT_EQ(line_of({}), "0 0");
    EXPECT_EQ(refusal(line_of_failure("two\nlines")), "two lines");
}

TEST(Tally, OfAFailureThrowsItsWords) {
    EXPECT_EQ(refusal("failed java.lang.IllegalMonitorStateException: not ours"),
              "java.lang.IllegalMonitorStateException: not ours");
}

TEST(Tally, IsNotReadFromAnythingElse) {
    for (const char* line : {"", " ", "1", "1 ", "1  2", "1 2 ", " 1 2", "1 2 x", "1 -2", "1 2.5",
                             "1 2\t3", "1 99999999999999999999", "failed", "ready"})
        EXPECT_EQ(refusal(line), "this is no answer: " + std::string{line});
}

TEST(Tally, ThatIsRefusedIsNotRepeatedAtLength) {
    EXPECT_LT(refusal(std::string(100'000, 'x')).size(), 300);
}

} // namespace
} // namespace holdfast::bench
