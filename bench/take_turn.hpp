// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/round.hpp"
#include "bench/server/ledger.hpp"

#include <vector>

namespace holdfast::bench {

/// Adds its samples to `samples`. Throws if the contender fails, or if the server's books do not
/// show what it claims to have done.
turn take_turn(contender&, ledger&, nanoseconds length, std::vector<nanoseconds>& samples);

} // namespace holdfast::bench
