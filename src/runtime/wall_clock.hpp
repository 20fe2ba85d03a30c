// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace holdfast::runtime {

/// What the machine takes for the date, since 1970. It may jump: for comparing with other machines'
/// and for nothing that counts time.
inline std::chrono::microseconds wall_clock_time() {
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

} // namespace holdfast::runtime
