// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/threads.hpp"

namespace holdfast::bench {

/// One thread takes a lock that nobody has to confirm, and one that a replica confirms, by turns. A
/// sample is how much longer the second took: neighbours in time, as the sides of a contest are.
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
