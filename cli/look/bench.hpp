// SPDX-License-Identifier: Apache-2.0
// Measurement of `holdfast bench`: threads that take and release locks.
#pragma once

#include <holdfast/client.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace cli {

/// Parameters of a measurement: numbers of threads and locks, and the duration.
struct workload {
    std::string name; ///< prefix of the locks' names; a number follows it
    std::size_t threads = 1;
    /// Number of locks. If this number is equal to `threads`, each thread has its own lock and
    /// waits for no other thread.
    std::size_t locks = 1;
    /// Number of replicas that must confirm each lock. If empty, the number in the URL applies.
    std::optional<unsigned> replicas{};
    std::chrono::duration<double> length{1};
};

/// Result of a measurement. Times are from the clock of this machine.
struct measurement {
    std::size_t pairs = 0; ///< number of successful pairs of lock() and unlock()
    double pairs_per_second = 0;
    std::chrono::nanoseconds p50{}, p99{}; ///< time of one pair, including its wait for the lock
};

/// Takes and releases the lock once, to find errors before the measurement. If the server cannot be
/// reached, the call throws at once, or waits if `expects_failover` is set. Needs only the
/// permissions that a lock needs.
void try_out(holdfast::client&, const std::string& name, bool expects_failover,
             std::optional<unsigned> replicas = {});

/// Runs the workload and returns the result. All locks are released at the end. Throws the first
/// error of a lock. A release without a reply in time is no error, because a failover may have
/// begun. The next lock() waits for the end of the failover.
measurement measure(holdfast::client&, const workload&);

} // namespace cli
