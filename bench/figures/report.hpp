// SPDX-License-Identifier: Apache-2.0
// Figures as lines of text, without the end of the line.
#pragma once

#include "bench/figures/figures.hpp"

namespace holdfast::bench {

/// For people.
std::string table_head();
std::string table_line(const figure&);

/// For programs: one object a line, with name, value, unit, yardstick, ratio, goal and holds; and
/// which direction is better, the goal of the value itself, and the two spreads as [low, high].
/// What there is not is null.
std::string json_line(const figure&);

/// For a contest that could not be held: it holds nothing, and that is no failure.
std::string table_line_of_skipped(const std::string& contest, const std::string& reason);
std::string json_line_of_skipped(const std::string& contest, const std::string& reason);

/// How long one took on one side, as [[part, us], …].
std::string json_line(const std::string& contest, const outcome&);

/// Conditions of a run, by name.
std::string json_line(const std::map<std::string, std::string>& conditions);

} // namespace holdfast::bench
