// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/report.hpp"

#include <boost/json.hpp>

#include <limits>

#include <gmock/gmock.h>

namespace holdfast::bench {
namespace {

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

} // namespace
} // namespace holdfast::bench
