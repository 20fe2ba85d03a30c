// SPDX-License-Identifier: Apache-2.0
// Computes the results of a contest's rounds: medians, ratios, and whether a goal is met.
#pragma once

#include "bench/figures/round.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

enum class better { higher, lower };

/// Limits of a figure. If higher is better, a limit is the smallest acceptable value, else the
/// largest. If both limits are given, both must be met.
struct goal {
    std::optional<double> ratio{}; ///< limit of holdfast's value divided by the yardstick's
    std::optional<double> value{}; ///< limit of holdfast's value
};

struct figure {
    std::string name;
    std::string_view unit;
    better best;
    spread ours;                       ///< over the rounds
    std::optional<spread> yardstick{}; ///< empty if there is no yardstick
    std::optional<spread> ratio{}; ///< spread of the ratios of single rounds, holdfast / yardstick
    goal wanted{};

    /// Returns whether the goal is met. Empty if the figure has no goal.
    std::optional<bool> holds() const;
};

/// A value of a turn that becomes a figure.
struct aspect {
    const char* suffix; ///< suffix of the contest's name
    const char* unit;
    better best;
    double turn::*value;
    /// If not 0, the figure is holdfast's value minus the yardstick's, divided by this number. Then
    /// the figure has no ratio.
    int more_by_parts = 0;
};

/// The figures of a contest.
using discipline = std::vector<aspect>;
extern const discipline pairs, hand_offs, hand_offs_alone, hand_offs_beside, re_entries,
    server_time, commands, acquisitions, pairs_beside_a_writer, wake_ups, calls, confirmations,
    added_to_calls, waits;

/// Goals of a contest, by the suffixes of its aspects.
using goals = std::map<std::string_view, goal>;

/// Returns one figure for each aspect, in the order of the aspects. There must be at least one
/// round.
std::vector<figure> figures(const std::string& contest, const discipline&, const goals&,
                            const std::vector<round>&);

/// Value that was measured once, without a comparison.
struct sighting {
    const char* suffix;
    const char* unit;
    better best;
    double value;
};
std::vector<figure> figures(const std::string& contest, const goals&, const std::vector<sighting>&);

/// Values that were measured several times, on both sides or only for holdfast.
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
