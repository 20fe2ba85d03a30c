// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <cstdint>

namespace holdfast::remote {

/// Returns `bound`, shortened at random by up to a fifth. Without the random part, waiters that
/// fell asleep together would all ask the server at the same moment.
inline duration jittered(duration bound, std::uint64_t random) {
    const auto fifth = static_cast<std::uint64_t>(bound.count()) / 5;
    return bound - duration{static_cast<duration::rep>(random % (fifth + 1))};
}

} // namespace holdfast::remote
