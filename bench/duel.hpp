// SPDX-License-Identifier: Apache-2.0
// Two contenders by turns on one server: ours, yardstick; yardstick, ours; and so on. A noisy
// machine disturbs neighbours in time alike, so the median of many short rounds' ratios can be
// believed, where two figures taken minutes apart cannot.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/round.hpp"
#include "bench/server/ledger.hpp"

#include <functional>

namespace holdfast::bench {

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round, 0 for the warm-up
};

/// Throws if a contender fails, or if the server's books do not show what it claims to have done.
outcome duel(contender& ours, contender& yardstick, ledger&, const course&);

} // namespace holdfast::bench
