// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/duel.hpp"

namespace holdfast::bench {

/// Runs each budget of `options::hand_off` once in each round. Measures how much faster the threads
/// of one process are than without hand-over. Also measures how long another process waits.
std::vector<figure> compare_budgets(const rivalry&, arena, accounts&, const course&);

} // namespace holdfast::bench
