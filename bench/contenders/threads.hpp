// SPDX-License-Identifier: Apache-2.0
// Loop of all contenders with threads, so that only the called function differs.
#pragma once

#include "bench/contenders/contender.hpp"

#include <functional>

namespace holdfast::bench {

/// Starts the threads together. Each thread calls `once` with its number until `length` is over.
/// `once` does the operation that is counted, and returns the time that it took or waited.
tally in_threads(int threads, nanoseconds length, const std::function<nanoseconds(int)>& once);

/// Returns how long the call takes.
template <typename What>
nanoseconds time_of(What what) {
    const auto begin = stopwatch::now();
    what();
    return stopwatch::now() - begin;
}

} // namespace holdfast::bench
