// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/threads.hpp"

namespace holdfast::bench {

/// Runs one thread that takes two locks alternately: a lock without confirmation, and a lock that a
/// replica confirms. A sample is how much longer the second lock took. The two measurements are
/// close in time, so disturbances of the machine affect both.
template <typename Lock, typename Unlock, typename ConfirmedLock, typename ConfirmedUnlock>
tally of_both(nanoseconds length, Lock lock, Unlock unlock, ConfirmedLock confirmed_lock,
              ConfirmedUnlock confirmed_unlock) {
    return in_threads(1, length, [&](int) {
        const nanoseconds alone = time_of(lock);
        unlock();
        const nanoseconds confirmed = time_of(confirmed_lock);
        confirmed_unlock();
        return confirmed - alone;
    });
}

} // namespace holdfast::bench
