// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/redisson.hpp"
#include "bench/failover/realm.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::bench {

/// Where Java's System.nanoTime() is the same.
using moment = std::chrono::steady_clock::time_point;

/// Two locks at the primary that will fail.
struct wanted_locks {
    std::string free; ///< asked for when it fails
    std::string held; ///< waited for since before
};

/// Since when they were granted.
struct grants {
    moment free, held;
};

/// One side in a failover. Each of its two callers has a client of its own. One whose call fails
/// calls again.
class applicants {
public:
    virtual ~applicants() = default;

    /// The free lock was taken and released once, and somebody begins to wait for the other one.
    virtual void prepare(const realm&, const wanted_locks&) = 0;

    virtual void ask() = 0; ///< for the free one, now

    /// When both are granted, which are released again. One that took too long counts as granted
    /// when the wait for it was over.
    virtual grants finish() = 0;
};

std::unique_ptr<applicants> our_applicants();
std::unique_ptr<applicants> redissons_applicants(redisson&); ///< throws `not_here`

} // namespace holdfast::bench
