// SPDX-License-Identifier: Apache-2.0
// Formats figures as lines of text, without the end of the line.
#pragma once

#include "bench/figures/figures.hpp"

namespace holdfast::bench {

/// Return lines of a readable table.
std::string table_head();
std::string table_line(const figure&);

/// Returns a figure as a JSON object on one line. Its fields are name, value, unit, yardstick,
/// ratio, goal, holds, the better direction, the goal of the value, and the two spreads as [low,
/// high]. A missing value is null.
std::string json_line(const figure&);

/// Returns a line for a contest that could not be run. Its goals are not met, but that is not a
/// failure.
std::string table_line_of_skipped(const std::string& contest, const std::string& reason);
std::string json_line_of_skipped(const std::string& contest, const std::string& reason);

/// Returns the distribution of the samples of both sides, as [[part, us], …].
std::string json_line(const std::string& contest, const outcome&);

/// Returns the conditions of a run, by name.
std::string json_line(const std::map<std::string, std::string>& conditions);

} // namespace holdfast::bench
