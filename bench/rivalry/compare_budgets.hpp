// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/duel.hpp"

namespace holdfast::bench {

/// Every budget of `options::hand_off` by turns, and so again in each round: what it brings the
/// threads of one process, compared with none, and how long it makes another one wait.
std::vector<figure> compare_budgets(const rivalry&, arena, accounts&, const course&);

} // namespace holdfast::bench
