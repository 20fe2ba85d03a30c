// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/duel.hpp"

namespace holdfast::bench {

/// Runs each budget of `options::hand_off` in turn, in each round. Measures what the budget gains
/// for the threads of one process, compared with no hand-over, and how long it makes another
/// process wait.
std::vector<figure> compare_budgets(const rivalry&, arena, accounts&, const course&);

} // namespace holdfast::bench
