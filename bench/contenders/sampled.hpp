// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

namespace holdfast::bench {

/// Content of a sample: the time until the lock is granted, or the time of the whole pair.
enum class sampled { lock, pair };

/// Returns the sample of a pair. The pair began at `begin`, got the lock at `taken`, and has just
/// ended.
inline nanoseconds sample_of(sampled what, stopwatch::time_point begin,
                             stopwatch::time_point taken) {
    return (what == sampled::lock ? taken : stopwatch::now()) - begin;
}

} // namespace holdfast::bench
