// SPDX-License-Identifier: Apache-2.0
// Loop for all contenders with threads. They differ only in the function that they call.
#pragma once

#include "bench/contenders/contender.hpp"

#include <functional>

namespace holdfast::bench {

/// Starts all threads together. Each thread calls `once` with its number until `length` has passed.
/// `once` runs one counted operation, and returns the time that the operation took or waited.
tally in_threads(int threads, nanoseconds length, const std::function<nanoseconds(int)>& once);

/// Returns how long the call of `what` takes.
template <typename What>
nanoseconds time_of(What what) {
    const auto begin = stopwatch::now();
    what();
    return stopwatch::now() - begin;
}

} // namespace holdfast::bench
