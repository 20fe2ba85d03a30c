// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace cli {

/// Description of a measurement: how many threads use how many locks, and for how long.
struct workload {
    std::string name; ///< prefix of the locks' names; a number follows it
    std::size_t threads = 1;
    std::size_t locks = 1;              ///< if equal to `threads`, no thread waits for another
    std::optional<unsigned> replicas{}; ///< replicas that must confirm each lock; if empty, the URL
                                        ///< decides
    std::chrono::duration<double> length{1};
};

/// Result of a measurement, by the clock of this machine.
struct measurement {
    std::size_t pairs = 0; ///< calls of lock() and unlock() that were both answered
    double pairs_per_second = 0;
    std::chrono::nanoseconds p50{}, p99{}; ///< time of one pair, including its wait for the lock
};

/// Takes the lock once and releases it. Unlike a wait, this fails at once if the server cannot be
/// reached, and it needs only the permissions that a lock needs.
void try_out(holdfast::client&, const std::string& name, std::optional<unsigned> replicas = {});

/// Runs the workload and returns the result. Throws the first error of a lock. Leaves no lock
/// behind.
measurement measure(holdfast::client&, const workload&);

} // namespace cli
