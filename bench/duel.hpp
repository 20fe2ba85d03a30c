// SPDX-License-Identifier: Apache-2.0
// Runs two contenders alternately on one server. The side that goes first changes with each round.
// A noisy machine disturbs two consecutive turns in the same way. So the median ratio of many short
// rounds is reliable. Two figures that are measured minutes apart are not.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/round.hpp"
#include "bench/server/ledger.hpp"

#include <functional>

namespace holdfast::bench {

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round; round 0 is the warm-up
};

/// Runs the contest. Throws if a contender fails, or if a contender's counts contradict the
/// server's statistics.
outcome duel(contender& ours, contender& yardstick, ledger&, const course&);

} // namespace holdfast::bench
