// SPDX-License-Identifier: Apache-2.0
// Runs two contenders in turn on one server. The side that goes first changes with each round. A
// noisy machine disturbs neighbouring turns alike. So the median of the ratios of many short rounds
// is reliable, while two figures that are measured minutes apart are not.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/round.hpp"
#include "bench/server/ledger.hpp"

#include <functional>

namespace holdfast::bench {

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round; 0 is the warm-up
};

/// Holds the contest. Throws if a contender fails, or if the server's statistics do not confirm a
/// contender's counts.
outcome duel(contender& ours, contender& yardstick, ledger&, const course&);

} // namespace holdfast::bench
