// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/quantile.hpp"

#include <vector>

namespace holdfast::bench {

/// Results of one contender in one turn.
struct turn {
    double per_second;     ///< operations of all threads or coroutines together
    double p50_us, p99_us; ///< time of one operation
    /// Per operation; CPU time of the contender's process, including the kernel.
    double client_cpu_us;
    double server_cpu_us; ///< per operation; CPU time that the server itself reports
    double memory_kb;     ///< memory of one process, if the contender starts processes
    double commands;      ///< commands that the server received per operation
    /// CPU use of the server in percent of a core over the whole turn, divided by the operations.
    double server_share;
};

/// Results of a round: two turns, one after the other.
struct round {
    turn ours, yardstick;
};

/// Results of a contest: each round, and the distribution of the samples over all rounds.
struct outcome {
    std::vector<round> rounds;
    std::vector<mark> ours, yardstick;
};

} // namespace holdfast::bench
