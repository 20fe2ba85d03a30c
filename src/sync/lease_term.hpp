// SPDX-License-Identifier: Apache-2.0
// What this process may believe about a lease, as arithmetic on its own clock.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>

namespace holdfast::sync {

/// What is taken off a lease: clocks may differ by one per cent, and two milliseconds cover the
/// rounding on both sides. Never more than half of a very short lease.
inline duration margin(duration lease) {
    return std::min(lease / 100 + duration{2}, lease / 2);
}

/// The shortest lease that is believed for so long.
constexpr duration lease_believed_for(duration length) {
    return length + length / 99 + duration{3};
}

constexpr time_point later(time_point t, duration d) {
    return d > duration::zero() && t > time_point::max() - d ? time_point::max() : t + d;
}

/// Until when a lease is believed. It counts from when its request was *sent*: the store starts
/// counting later, when the request arrives, so we stop believing before the store forgets.
inline time_point believed_until(time_point sent_at, duration lease) {
    return later(sent_at, lease - margin(lease));
}

/// When the store has surely forgotten by itself what it gave or promised for `length`, at
/// `given_at` at the latest: its clock may be slow by the margin.
inline time_point forgotten_at(time_point given_at, duration length) {
    return later(given_at, length + margin(length));
}

/// How often a hold is renewed, or looked at: room for two failures before the end comes near.
constexpr duration renewal_period(duration lease) {
    return std::max(lease / 3, duration{1});
}

/// How long before the end of a term its owner is warned, if no renewal has moved the end by then.
constexpr duration danger_period(duration lease) {
    return lease / 3;
}

/// An answer from another continent takes as long.
constexpr duration answer_period_min{300};

/// Returns how long to wait for the reply to a renewal when `left` of the lease remains. Then the
/// store is asked again beside that request, since its connection may be dead without notice. A
/// late reply still counts.
constexpr duration answer_period(duration left) {
    return std::max(left / 4, answer_period_min);
}

/// Returns how long to wait for the next reply when `before` was not enough.
constexpr duration next_answer_period(duration before) {
    return 2 * before;
}

/// No pause is longer than a part of what is left, unless it is as short as that.
constexpr duration last_pauses{100};

/// How often the pause after a refusal doubles.
constexpr int refusals_counted_max = 3;

/// Returns how soon a failed renewal is tried again. The pause doubles with each refusal in a row.
/// A hold that was fixed has less left than the lease it has now.
constexpr duration retry_period(duration lease, duration left, int refusals = 0) {
    const int times = 1 << std::clamp(refusals, 0, refusals_counted_max);
    const duration pause = times * std::clamp(lease / 10, duration{1}, duration{1000});
    return std::min(pause, std::max(left / 4, last_pauses));
}

} // namespace holdfast::sync
