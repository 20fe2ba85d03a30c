// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/database/shed_lock.hpp"

#include <chrono>
#include <thread>

namespace holdfast::bench {

/// Polls until the lock is taken. ShedLock has no call that waits, so its users write this loop.
inline void lock_patiently(shed_lock& wanted) {
    while (!wanted.try_lock())
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
}

} // namespace holdfast::bench
