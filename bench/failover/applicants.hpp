// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/redisson.hpp"
#include "bench/failover/realm.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::bench {

/// Time on the clock that Java's System.nanoTime() uses too.
using moment = std::chrono::steady_clock::time_point;

/// Two locks on the primary that will fail.
struct wanted_locks {
    std::string free; ///< requested when the primary fails
    std::string held; ///< has had a waiter since before the failure
};

/// Times at which the two locks were granted.
struct grants {
    moment free, held;
};

/// One side in a failover. It has two callers with a client each. A caller whose call fails calls
/// again.
class applicants {
public:
    virtual ~applicants() = default;

    /// Takes and releases the free lock once, and starts a waiter for the held lock.
    virtual void prepare(const realm&, const wanted_locks&) = 0;

    virtual void ask() = 0; ///< requests the free lock now

    /// Waits until both locks are granted, and releases them. A lock that was not granted in time
    /// counts as granted at the end of the wait.
    virtual grants finish() = 0;
};

std::unique_ptr<applicants> our_applicants();
std::unique_ptr<applicants> redissons_applicants(redisson&); ///< throws `not_here`

} // namespace holdfast::bench
