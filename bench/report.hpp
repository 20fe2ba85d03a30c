// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures.hpp"

namespace holdfast::bench {

/// For people. The head says under which conditions the lines below it were measured.
void print_table_head(const std::string& conditions);
void print_table_line(const figure&);

/// For programs: one object a line, with name, value, unit, yardstick, ratio, goal and holds.
void print_json(const figure&);

} // namespace holdfast::bench
