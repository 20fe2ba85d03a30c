// SPDX-License-Identifier: Apache-2.0
// Results of the rounds of a contest: medians, ratios, and whether a goal is met.
#pragma once

#include "bench/figures/round.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

enum class better { higher, lower };

/// Limit of a figure: the smallest value that is good enough if higher is better, else the largest.
/// If both limits are given, both must be met.
struct goal {
    std::optional<double> ratio{}; ///< our value divided by the yardstick's
    std::optional<double> value{}; ///< our value alone
};

struct figure {
    std::string name;
    std::string_view unit;
    better best;
    spread ours;                       ///< over the rounds
    std::optional<spread> yardstick{}; ///< empty if there is no yardstick
    std::optional<spread> ratio{};     ///< of the ratios of single rounds, ours / yardstick
    goal wanted{};

    /// Returns whether the goal is met; empty if there is no goal.
    std::optional<bool> holds() const;
};

/// A value that is read from a turn.
struct aspect {
    const char* suffix; ///< suffix of the contest's name
    const char* unit;
    better best;
    double turn::*value;
    /// If not 0, the figure is the difference between ours and the yardstick, divided by this
    /// number, and has no ratio.
    int more_by_parts = 0;
};

/// The figures of a contest.
using discipline = std::vector<aspect>;
extern const discipline pairs, hand_offs, hand_offs_alone, hand_offs_beside, re_entries,
    server_time, commands, acquisitions, pairs_beside_a_writer, wake_ups, calls, confirmations,
    added_to_calls, waits;

/// Goals of a contest, by the suffixes of its aspects.
using goals = std::map<std::string_view, goal>;

/// Returns one figure for each aspect, in their order. There must be at least one round.
std::vector<figure> figures(const std::string& contest, const discipline&, const goals&,
                            const std::vector<round>&);

/// Value that was measured once and has nothing to be compared with.
struct sighting {
    const char* suffix;
    const char* unit;
    better best;
    double value;
};
std::vector<figure> figures(const std::string& contest, const goals&, const std::vector<sighting>&);

/// Values that were measured several times, on both sides or only on ours.
struct comparison {
    const char* suffix;
    const char* unit;
    better best;
    std::vector<double> ours;        ///< at least one
    std::vector<double> yardstick{}; ///< none, or as many as `ours`
};
std::vector<figure> figures(const std::string& contest, const goals&,
                            const std::vector<comparison>&);

} // namespace holdfast::bench
