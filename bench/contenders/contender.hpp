// SPDX-License-Identifier: Apache-2.0
// Contender of a contest: it repeats one operation on locks as fast as possible.
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

    /// Repeats the operation until `length` has passed. Waits for the end of the last operation.
    /// Throws if an operation fails.
    virtual tally run(nanoseconds length) = 0;

    /// Returns how many scripts the server should have run. By default it is two for each pair of
    /// lock and unlock.
    virtual claim scripts_for(const tally& all) const { return {2 * all.done, 2 * all.done}; }

    /// Returns the CPU time of the process that does the work.
    virtual double cpu_seconds() const { return own_cpu_seconds(); }

    /// Returns the memory of a started process while it held the lock. Used only by contenders that
    /// start processes.
    virtual double memory_kb() const { return 0; }
};

} // namespace holdfast::bench
