// SPDX-License-Identifier: Apache-2.0
// What this process may believe about a lease, as arithmetic on its own clock.
#pragma once

#include "sync/mutants.hpp"

#include <holdfast/time.hpp>

#include <algorithm>

namespace holdfast::sync {

/// What is taken off a lease: clocks may differ by one per cent, and two milliseconds cover the
/// rounding on both sides. Never more than half of a very short lease.
inline duration margin(duration lease) {
    if (planted(mutant::no_margin))
        return duration::zero();
    return std::min(lease / 100 + duration{2}, lease / 2);
}

constexpr time_point later(time_point t, duration d) {
    return d >= time_point::max() - t ? time_point::max() : t + d;
}

/// Until when a lease is believed. It counts from when its request was *sent*: the store starts
/// counting later, when the request arrives, so we stop believing before the store forgets.
inline time_point believed_until(time_point sent_at, duration lease) {
    return later(sent_at, lease - margin(lease));
}

/// How often a hold is renewed, or looked at: room for two failures before the end comes near.
constexpr duration renewal_period(duration lease) {
    return std::max(lease / 3, duration{1});
}

/// How long before the end of a term its owner is warned, if no renewal has moved the end by then.
constexpr duration danger_period(duration lease) {
    return lease / 3;
}

/// How soon a failed renewal is tried again.
constexpr duration retry_period(duration lease) {
    return std::clamp(lease / 10, duration{1}, duration{1000});
}

} // namespace holdfast::sync
