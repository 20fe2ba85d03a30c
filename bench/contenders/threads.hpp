// SPDX-License-Identifier: Apache-2.0
// The loop of all contenders with threads, so that only what is called in it differs.
#pragma once

#include "bench/contenders/contender.hpp"

#include <functional>

namespace holdfast::bench {

/// Starts that many threads together. Each calls `once` with its number until `length` is over;
/// that does what is counted, and says how long it took, or made its caller wait.
tally in_threads(int threads, nanoseconds length, const std::function<nanoseconds(int)>& once);

/// How long that takes.
template <typename What>
nanoseconds time_of(What what) {
    const auto begin = stopwatch::now();
    what();
    return stopwatch::now() - begin;
}

} // namespace holdfast::bench
