// SPDX-License-Identifier: Apache-2.0
// What the rounds of a contest say: medians, ratios, and whether a goal is met.
#pragma once

#include "bench/figures/round.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

enum class better { higher, lower };

/// What is good enough: the least that will do where higher is better, else the most. Both, where
/// both are given.
struct goal {
    std::optional<double> ratio{}; ///< of ours to the yardstick
    std::optional<double> value{}; ///< of ours by itself
};

struct figure {
    std::string name;
    std::string_view unit;
    better best;
    spread ours;                       ///< over the rounds
    std::optional<spread> yardstick{}; ///< nothing: there is none to compare with
    std::optional<spread> ratio{};     ///< of the rounds' own ratios, ours / yardstick
    goal wanted{};

    /// Nothing: there is no goal, it is only told.
    std::optional<bool> holds() const;
};

/// One way to look at a turn.
struct aspect {
    const char* suffix; ///< of the contest's name
    const char* unit;
    better best;
    double turn::*value;
    /// Given: how much more it is for ours than for the yardstick, in so many parts. Then there is
    /// no ratio.
    int more_by_parts = 0;
};

/// What a contest counts, and so which figures it has.
using discipline = std::vector<aspect>;
extern const discipline pairs, hand_offs, hand_offs_alone, hand_offs_beside, re_entries,
    server_time, commands, acquisitions, pairs_beside_a_writer, wake_ups, calls, confirmations,
    added_to_calls, waits;

/// The goals of a contest by its aspects' suffixes.
using goals = std::map<std::string_view, goal>;

/// One figure an aspect, in their order. There is a round at least.
std::vector<figure> figures(const std::string& contest, const discipline&, const goals&,
                            const std::vector<round>&);

/// What was seen once, and has nothing to be compared with.
struct sighting {
    const char* suffix;
    const char* unit;
    better best;
    double value;
};
std::vector<figure> figures(const std::string& contest, const goals&, const std::vector<sighting>&);

/// What was seen several times on both sides together, or on ours alone.
struct comparison {
    const char* suffix;
    const char* unit;
    better best;
    std::vector<double> ours;        ///< one at least
    std::vector<double> yardstick{}; ///< none, or as many
};
std::vector<figure> figures(const std::string& contest, const goals&,
                            const std::vector<comparison>&);

} // namespace holdfast::bench
