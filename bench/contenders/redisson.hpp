// SPDX-License-Identifier: Apache-2.0
// The Java peer: a JVM with one Redisson client (bench/redisson).
#pragma once

#include "bench/contenders/peer.hpp"
#include "bench/server/server.hpp"

#include <memory>
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

    /// The one that most contests share. Throws as `start`.
    peer& process();

    /// One more. Throws `not_here`, or why it did not start.
    std::unique_ptr<peer> start();

    double cpu_seconds() const { return process_ ? process_->cpu_seconds() : 0; }

    /// "Redisson 4.7.0, Java 17.0.15"; empty if it was not needed.
    const std::string& version() const { return version_; }

private:
    const server& home_;
    std::unique_ptr<peer> process_;
    std::string version_;
};

} // namespace holdfast::bench
