// SPDX-License-Identifier: Apache-2.0
// What is compared: somebody who locks and unlocks free locks as fast as it can.
#pragma once

#include "bench/server.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::bench {

using stopwatch = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// How long each pair took, in no order, and how long all of them took together.
struct tally {
    std::vector<nanoseconds> pairs;
    nanoseconds elapsed{};
};

class contender {
public:
    virtual ~contender() = default;

    /// Locks and unlocks until `length` is over, and finishes the pairs it has begun. Throws if
    /// any of them fails.
    virtual tally run(nanoseconds length) = 0;
};

// holdfast, through one client, and against it bare blocking sockets, one per thread.
std::unique_ptr<contender> holdfast_threads(const server&, int threads);
std::unique_ptr<contender> bare_sockets(const server&, int threads);

// holdfast on one thread, and against it one connection with as many requests in flight.
std::unique_ptr<contender> holdfast_coroutines(const server&, int coroutines);
std::unique_ptr<contender> raw_pipeline(const server&, int in_flight);

/// The same names on both sides, one for each thread, coroutine or request in flight.
inline std::string name_of_lock(int i) {
    return "bench:" + std::to_string(i);
}

} // namespace holdfast::bench
