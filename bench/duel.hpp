// SPDX-License-Identifier: Apache-2.0
// Two contenders by turns on one server: ours, yardstick; yardstick, ours; and so on. A noisy
// machine disturbs neighbours in time alike, so the median of many short rounds' ratios can be
// believed, where two figures taken minutes apart cannot.
#pragma once

#include "bench/accounts.hpp"
#include "bench/contender.hpp"

#include <functional>
#include <vector>

namespace holdfast::bench {

/// What one turn showed.
struct turn {
    double pairs_per_second;
    double p50_us, p99_us; ///< of a pair
    double client_cpu_us;  ///< per pair: this process, all threads, and the kernel for it
    double server_cpu_us;  ///< per pair: by the server's own accounts
};

struct round {
    turn ours, yardstick;
};

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round, 0 for the warm-up
};

/// Throws if a contender fails, or if the server's books do not show what it claims to have done.
std::vector<round> duel(contender& ours, contender& yardstick, accounts&, const course&);

} // namespace holdfast::bench
