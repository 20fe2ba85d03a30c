// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace holdfast::runtime {

/// Returns the time since 1970 on the machine's calendar clock, which may jump. Use it only to
/// compare dates with other machines, not to measure time.
inline std::chrono::microseconds wall_clock_time() {
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

} // namespace holdfast::runtime
