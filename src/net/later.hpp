// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

namespace holdfast::net {

/// `length`, which is not negative, after `from`; "never" is as far as one can count, and stays so.
constexpr time_point later(time_point from, duration length) {
    return from > time_point::max() - length ? time_point::max() : from + length;
}

} // namespace holdfast::net
