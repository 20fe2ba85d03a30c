// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/round.hpp"
#include "bench/server/ledger.hpp"

#include <vector>

namespace holdfast::bench {

/// Runs one turn, and adds its samples to `samples`. Throws if the contender fails, or if the
/// contender's counts contradict the server's statistics.
turn take_turn(contender&, ledger&, nanoseconds length, std::vector<nanoseconds>& samples);

} // namespace holdfast::bench
