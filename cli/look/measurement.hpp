// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace cli {

/// Who does what, how long.
struct workload {
    std::string name; ///< of the locks: each has a number of its own behind it
    std::size_t threads = 1;
    std::size_t locks = 1; ///< as many as threads: nobody waits for anybody
    std::optional<unsigned> replicas{}; ///< must confirm each; empty: as the URL says
    std::chrono::duration<double> length{1};
};

/// How it went, by the clock of this machine.
struct measurement {
    std::size_t pairs = 0; ///< lock() and unlock(), both answered
    double pairs_per_second = 0;
    std::chrono::nanoseconds p50{}, p99{}; ///< of one pair, with its wait
};

/// Takes the lock once and releases it: other than a wait, this fails at once where the server is
/// not there, and it needs no right that a lock does not need.
void try_out(holdfast::client&, const std::string& name, std::optional<unsigned> replicas = {});

/// Throws what a lock threw. Leaves no lock behind.
measurement measure(holdfast::client&, const workload&);

} // namespace cli
