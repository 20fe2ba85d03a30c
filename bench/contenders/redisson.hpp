// SPDX-License-Identifier: Apache-2.0
// The Java peer: a JVM with a Redisson client, or several (bench/redisson).
#pragma once

#include "bench/contenders/peer.hpp"
#include "bench/server/server.hpp"

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

/// What a contest needs is not on this machine.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What to run comes from HOLDFAST_BENCH_REDISSON, `<version>=<class path>`, as `./dev bench` sets
/// it. None is started before it is needed; then it lives as long as this object.
class redisson {
public:
    explicit redisson(const server& home)
        : home_{home} {}

    /// Most contests share the first; some want more of them. Throws `not_here`, or why it did not
    /// start.
    peer& process(std::size_t number = 0);

    double cpu_seconds() const; ///< of all of them

    /// "Redisson 4.7.0, Java 17.0.15"; empty if it was not needed.
    const std::string& version() const { return version_; }

private:
    void start_one();

    const server& home_;
    std::deque<peer> processes_; // they do not move
    std::string version_;
};

} // namespace holdfast::bench
