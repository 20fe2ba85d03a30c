// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/quantile.hpp"

#include <vector>

namespace holdfast::bench {

/// Results of one turn.
struct turn {
    double per_second;     ///< operations of all threads or coroutines together
    double p50_us, p99_us; ///< time of one operation
    double client_cpu_us;  ///< per operation: the contender's process and the kernel's work for it
    double server_cpu_us;  ///< per operation, by the server's own count
    double memory_kb;      ///< memory of one process, for a contender that starts processes
    double commands;       ///< commands that the server received per operation
    double server_share;   ///< CPU use of the server during the whole turn, in percent of a core;
                           ///< per operation
};

/// Two turns, one after the other.
struct round {
    turn ours, yardstick;
};

/// Results of a contest: each round, and the distribution of the samples over all rounds.
struct outcome {
    std::vector<round> rounds;
    std::vector<mark> ours, yardstick;
};

} // namespace holdfast::bench
