// SPDX-License-Identifier: Apache-2.0
// Formats figures as lines of text, without the end of the line.
#pragma once

#include "bench/figures/figures.hpp"

namespace holdfast::bench {

/// Lines for people.
std::string table_head();
std::string table_line(const figure&);

/// One JSON object per line, with name, value, unit, yardstick, ratio, goal and holds. It also has
/// the better direction, the goal of the value itself, and the two spreads as [low, high]. A
/// missing value is null.
std::string json_line(const figure&);

/// Line for a contest that could not be held. It meets no goal, and is not a failure.
std::string table_line_of_skipped(const std::string& contest, const std::string& reason);
std::string json_line_of_skipped(const std::string& contest, const std::string& reason);

/// Distribution of the samples of both sides, as [[part, us], …].
std::string json_line(const std::string& contest, const outcome&);

/// Conditions of a run, by name.
std::string json_line(const std::map<std::string, std::string>& conditions);

} // namespace holdfast::bench
