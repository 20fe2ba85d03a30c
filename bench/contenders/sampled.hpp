// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

namespace holdfast::bench {

/// What a sample is: the time to the lock, or that of the whole pair.
enum class sampled { lock, pair };

/// Of a pair that began then and had the lock from `taken` on, and has just ended.
inline nanoseconds sample_of(sampled what, stopwatch::time_point begin,
                             stopwatch::time_point taken) {
    return (what == sampled::lock ? taken : stopwatch::now()) - begin;
}

} // namespace holdfast::bench
