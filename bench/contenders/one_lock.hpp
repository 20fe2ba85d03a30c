// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/threads.hpp"

#include <stdexcept>

namespace holdfast::bench {

/// Runs threads that all want one lock all the time. A sample is how long a thread waited for the
/// lock. Throws if two threads held the lock at the same time.
template <typename Enter, typename Leave>
tally through_one_lock(int threads, nanoseconds length, Enter enter, Leave leave) {
    long long entered = 0; // guarded only by the measured lock
    const tally all = in_threads(threads, length, [&](int) {
        const nanoseconds waited = time_of(enter);
        ++entered;
        leave();
        return waited;
    });
    if (entered != all.done)
        throw std::runtime_error{"two threads were inside one lock at the same time"};
    return all;
}

} // namespace holdfast::bench
