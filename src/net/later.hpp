// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

namespace holdfast::net {

/// Returns `from + length`, or time_point::max() ("never") if the sum would overflow. `length` must
/// not be negative.
constexpr time_point later(time_point from, duration length) {
    return from > time_point::max() - length ? time_point::max() : from + length;
}

} // namespace holdfast::net
