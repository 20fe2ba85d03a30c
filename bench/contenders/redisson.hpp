// SPDX-License-Identifier: Apache-2.0
// Redisson in one or several JVMs (bench/redisson).
#pragma once

#include "bench/contenders/peer.hpp"
#include "bench/server/server.hpp"

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

/// Exception: this machine lacks something that the contest needs.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Starts the JVMs of a run. The variable HOLDFAST_BENCH_REDISSON says how, as `<version>=<class
/// path>`. `./dev bench` sets the variable. A JVM is started at the first use, and lives as long as
/// this object.
class redisson {
public:
    explicit redisson(const server& home)
        : home_{home} {}

    /// Returns a JVM, and starts it at the first call. Most contests share JVM 0. Throws
    /// `not_here`, or the reason why the JVM did not start.
    peer& process(std::size_t number = 0);

    double cpu_seconds() const; ///< CPU time of all JVMs

    /// Returns for example "Redisson 4.7.0, Java 17.0.15". Empty if no JVM was started.
    const std::string& version() const { return version_; }

private:
    void start_one();

    const server& home_;
    std::deque<peer> processes_; // a deque does not move its elements
    std::string version_;
};

} // namespace holdfast::bench
