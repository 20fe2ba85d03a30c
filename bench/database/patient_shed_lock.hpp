// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/database/shed_lock.hpp"

#include <chrono>
#include <thread>

namespace holdfast::bench {

/// ShedLock has no verb that waits; who wants one writes this.
inline void lock_patiently(shed_lock& wanted) {
    while (!wanted.try_lock())
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
}

} // namespace holdfast::bench
