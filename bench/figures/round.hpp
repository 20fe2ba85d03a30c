// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/quantile.hpp"

#include <vector>

namespace holdfast::bench {

/// What one turn showed.
struct turn {
    double per_second;     ///< of what the contest counts, all threads or coroutines together
    double p50_us, p99_us; ///< of one
    double client_cpu_us;  ///< per one: the contender's process, and the kernel's work for it
    double server_cpu_us;  ///< per one: by the server's own accounts
    double memory_kb;      ///< of one that is a process
    double commands;       ///< that the server was sent, per one
    double server_share;   ///< of a core, in percent, all the time; per one
};

/// Two turns that are neighbours in time.
struct round {
    turn ours, yardstick;
};

/// What a contest showed: each round by itself, and how long one took over all of them.
struct outcome {
    std::vector<round> rounds;
    std::vector<mark> ours, yardstick;
};

} // namespace holdfast::bench
