// SPDX-License-Identifier: Apache-2.0
// The Java peer: a JVM with one Redisson client, told line by line what to do (bench/redisson).
#pragma once

#include "bench/figures/tally.hpp"
#include "bench/server/server.hpp"
#include "support/child_process.hpp"

#include <optional>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

/// What a contest needs is not on this machine.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What to run comes from HOLDFAST_BENCH_REDISSON, `<version>=<class path>`, as `./dev bench` sets
/// it. Nothing is started before it is needed; then it lives as long as this object.
class redisson {
public:
    explicit redisson(const server& home)
        : home_{home} {}

    /// One turn: "threads", "async", "gate" or "reentry". Throws `not_here`, or what went wrong.
    tally run(const std::string& kind, int at_once, nanoseconds length);

    double cpu_seconds() const; ///< of the JVM so far, with all it does beside the turns

    /// "Redisson 4.7.0, Java 17.0.15"; empty if it was not needed.
    const std::string& version() const { return version_; }

private:
    void start();
    std::string answer();

    const server& home_;
    std::optional<support::child_process> process_;
    std::string version_;
};

} // namespace holdfast::bench
