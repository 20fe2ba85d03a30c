// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/redisson.hpp"
#include "bench/failover/realm.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::bench {

/// Time of the clock that Java's System.nanoTime() uses too.
using moment = std::chrono::steady_clock::time_point;

/// Names of two locks on the primary that will fail.
struct wanted_locks {
    std::string free; ///< a call asks for it when the primary fails
    std::string held; ///< a waiter has waited for it since before the failure
};

/// Times at which the two locks were granted.
struct grants {
    moment free, held;
};

/// One side in a failover. It has two callers, and each caller has its own client. A caller repeats
/// a failed call.
class applicants {
public:
    virtual ~applicants() = default;

    /// Prepares a failover: takes and releases the free lock once, and starts a waiter for the held
    /// lock.
    virtual void prepare(const realm&, const wanted_locks&) = 0;

    virtual void ask() = 0; ///< requests the free lock now

    /// Waits until both locks are granted, and releases them. If a lock is not granted in time, the
    /// end of the wait counts as the time of the grant.
    virtual grants finish() = 0;
};

std::unique_ptr<applicants> our_applicants();
std::unique_ptr<applicants> redissons_applicants(redisson&); ///< throws `not_here`

} // namespace holdfast::bench
