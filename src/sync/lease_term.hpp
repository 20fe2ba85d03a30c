// SPDX-License-Identifier: Apache-2.0
// How long this process may rely on a lease, by its own clock. While it may, the lease is called
// *believed*.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>

namespace holdfast::sync {

/// Returns the safety margin that is subtracted from a lease: one per cent for the drift of the
/// clocks, and two milliseconds for rounding on both sides. It is at most half of a very short
/// lease.
inline duration margin(duration lease) {
    return std::min(lease / 100 + duration{2}, lease / 2);
}

/// Returns the shortest lease on which this process may rely for `length`.
constexpr duration lease_believed_for(duration length) {
    return length + length / 99 + duration{3};
}

constexpr time_point later(time_point t, duration d) {
    return d > duration::zero() && t > time_point::max() - d ? time_point::max() : t + d;
}

/// Returns until when this process may rely on a lease. It counts from when the request was *sent*.
/// The store starts to count later, when the request arrives, so the lease ends here before it ends
/// in the store.
inline time_point believed_until(time_point sent_at, duration lease) {
    return later(sent_at, lease - margin(lease));
}

/// Returns when the store has surely forgotten what it granted for `length` at `given_at` or
/// earlier. The store's clock may be slow by the margin.
inline time_point forgotten_at(time_point given_at, duration length) {
    return later(given_at, length + margin(length));
}

/// Returns the time between two renewals of a lease. A third of the lease leaves room for two
/// failures.
constexpr duration renewal_period(duration lease) {
    return std::max(lease / 3, duration{1});
}

/// Returns how long before the end of the term its owner is warned, unless a renewal has moved the
/// end.
constexpr duration danger_period(duration lease) {
    return lease / 3;
}

/// Shortest wait for an answer. An answer from another continent may take that long.
constexpr duration answer_period_min{300};

/// Returns how long to wait for the reply to a renewal when `left` of the lease remains. Then a
/// second request is sent beside the first, because the connection may be dead without notice. A
/// late reply still counts.
constexpr duration answer_period(duration left) {
    return std::max(left / 4, answer_period_min);
}

/// Returns how long to wait for the next reply when `before` was not enough.
constexpr duration next_answer_period(duration before) {
    return 2 * before;
}

/// Pauses of this length are allowed even if little of the lease is left.
constexpr duration last_pauses{100};

/// Number of refusals in a row after which the pause stops to double.
constexpr int refusals_counted_max = 3;

/// Returns how soon a failed renewal is tried again. The pause doubles with each refusal in a row.
/// It is at most a quarter of the time left, but pauses up to `last_pauses` are always allowed. The
/// time left counts because a hold that had a fixed lease may have less left than its new lease.
constexpr duration retry_period(duration lease, duration left, int refusals = 0) {
    const int times = 1 << std::clamp(refusals, 0, refusals_counted_max);
    const duration pause = times * std::clamp(lease / 10, duration{1}, duration{1000});
    return std::min(pause, std::max(left / 4, last_pauses));
}

} // namespace holdfast::sync
