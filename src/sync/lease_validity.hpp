// SPDX-License-Identifier: Apache-2.0
// Computation of the validity of leases: how long this process may rely on a lease, by its own
// clock.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>

namespace holdfast::sync {

/// Returns the safety margin that is subtracted from a lease: 1 % for the drift of the clocks, plus
/// 2 ms for rounding in this process and in the store. The margin is at most half of the lease,
/// which matters for a very short lease.
inline duration margin(duration lease) {
    return std::min(lease / 100 + duration{2}, lease / 2);
}

/// Returns the shortest lease that stays valid in this process for the time `length`.
constexpr duration lease_valid_for(duration length) {
    return length + length / 99 + duration{3};
}

constexpr time_point later(time_point t, duration d) {
    return d > duration::zero() && t > time_point::max() - d ? time_point::max() : t + d;
}

/// Returns the time until which this process may rely on a lease. In this process, the lease begins
/// when the request is *sent*. In the store, the lease begins later, when the request arrives. So
/// the lease ends in this process before it ends in the store.
inline time_point valid_until(time_point sent_at, duration lease) {
    return later(sent_at, lease - margin(lease));
}

/// Returns when the store has certainly forgotten a grant of `length` that was made at `given_at`
/// or earlier. The clock of the store may be slow by the safety margin.
inline time_point forgotten_at(time_point given_at, duration length) {
    return later(given_at, length + margin(length));
}

/// Returns the time between two renewals: a third of the lease. That leaves time for two failed
/// renewals.
constexpr duration renewal_period(duration lease) {
    return std::max(lease / 3, duration{1});
}

/// Returns how long before the expiry the owner is warned. If a renewal succeeds before that time,
/// there is no warning.
constexpr duration danger_period(duration lease) {
    return lease / 3;
}

/// Shortest wait for a reply. A reply from another continent may need this time.
constexpr duration answer_period_min{300};

/// Returns how long to wait for the reply to a renewal when the time `left` of the lease remains.
/// After this wait, a second request is sent in parallel, because the connection may be dead
/// without notice. A late reply to the first request is still used.
constexpr duration answer_period(duration left) {
    return std::max(left / 4, answer_period_min);
}

/// Returns how long to wait for the reply to the next request, after no reply came within the wait
/// `before`.
constexpr duration next_answer_period(duration before) {
    return 2 * before;
}

/// A pause of at most this length before the next renewal attempt is always allowed, even if little
/// of the lease is left.
constexpr duration last_pauses{100};

/// Number of consecutive refusals after which the pause no longer doubles.
constexpr int refusals_counted_max = 3;

/// Returns the pause before a failed renewal is tried again. The pause doubles with each
/// consecutive refusal. The pause is at most a quarter of the time left, but pauses up to
/// `last_pauses` are always allowed. `left` may be shorter than `lease` if the hold had a fixed
/// lease before.
constexpr duration retry_period(duration lease, duration left, int refusals = 0) {
    const int times = 1 << std::clamp(refusals, 0, refusals_counted_max);
    const duration pause = times * std::clamp(lease / 10, duration{1}, duration{1000});
    return std::min(pause, std::max(left / 4, last_pauses));
}

} // namespace holdfast::sync
