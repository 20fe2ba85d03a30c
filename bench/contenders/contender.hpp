// SPDX-License-Identifier: Apache-2.0
// What is compared: somebody who does one thing with locks as fast as it can.
#pragma once

#include "bench/figures/tally.hpp"
#include "bench/server/cpu.hpp"
#include "bench/server/ledger.hpp"

#include <chrono>

namespace holdfast::bench {

using stopwatch = std::chrono::steady_clock;

class contender {
public:
    virtual ~contender() = default;

    /// Goes on until `length` is over, and finishes what it has begun. Throws if any of it fails.
    virtual tally run(nanoseconds length) = 0;

    /// Two of them a pair, unless it says otherwise.
    virtual claim scripts_for(const tally& all) const { return {2 * all.done, 2 * all.done}; }

    /// Of the process that does the work.
    virtual double cpu_seconds() const { return own_cpu_seconds(); }

    /// Of one that starts processes: what such a process occupied while it held the lock.
    virtual double memory_kb() const { return 0; }
};

} // namespace holdfast::bench
