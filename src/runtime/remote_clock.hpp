// SPDX-License-Identifier: Apache-2.0
// Estimate of another machine's clock, from replies that contain the time of that machine. The file
// also has a function that reads the calendar clock of this machine.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::runtime {

/// Estimate of the offset between a server's clock and this machine's clock. Each reply contains a
/// time `shown` of the server's clock, from some moment between the sending of the request and the
/// arrival of the reply. So the offset lies in an interval that is as wide as the round trip.
///
/// The intervals of several replies are intersected. Before that, an old interval is widened by the
/// possible drift of the two clocks. If a reply contradicts the earlier replies, a clock was
/// stepped, and only the new reply is used. A step back by less than the width of the interval is
/// not noticed. The estimate is then wrong by at most this step. Pass the replies to this object in
/// the order in which they arrived.
class remote_clock {
public:
    using microseconds = std::chrono::microseconds;

    /// Bound of the drift: the speeds of two real clocks differ by at most 1 / `drift_divisor`. The
    /// safety margin of a lease uses the same bound.
    static constexpr std::int64_t drift_divisor = 100;

    void learn(time_point sent_at, time_point received_at, microseconds shown) {
        // At the time `received_at`, the offset between the clocks was in this interval. One tick
        // is added, because the times of this machine are rounded down to a millisecond.
        const interval seen{shown - count(received_at + tick),
                            shown - count(sent_at) + drift(received_at + tick - sent_at)};
        if (!offset_) {
            remember(seen, received_at);
            return;
        }
        const microseconds slack = drift(std::chrono::abs(received_at - learnt_at_));
        const interval both{std::max(offset_->low - slack, seen.low),
                            std::min(offset_->high + slack, seen.high)};
        remember(both.low <= both.high ? both : seen, received_at);
    }

    void forget() { offset_.reset(); }
    bool known() const { return offset_.has_value(); }

    /// Returns the earliest time that the server's clock can show when this machine's clock shows
    /// `local`. If this time is the deadline of a request, the server never executes the request
    /// after `local`. Returns nothing if the offset of the clocks is unknown, or if `local` is too
    /// late to be expressed in microseconds.
    std::optional<microseconds> no_later_than(time_point local) const {
        if (!offset_ || local > farthest)
            return std::nullopt;
        return count(local) + offset_->low - drift(std::chrono::abs(local - learnt_at_) + tick);
    }

private:
    struct interval {
        microseconds low, high; // bounds of the offset: server's clock - this machine's clock
    };
    static constexpr time_point farthest{duration::max() / 2000};
    static constexpr duration tick{1}; // resolution of this machine's clock

    static microseconds count(time_point t) { return t.time_since_epoch(); }

    /// Returns the greatest drift in the time `passed`. The calculation uses microseconds. In whole
    /// milliseconds, the drift between replies that are less than `drift_divisor` ms apart would be
    /// zero.
    static microseconds drift(duration passed) { return microseconds{passed} / drift_divisor; }

    void remember(interval seen, time_point at) {
        offset_ = seen;
        learnt_at_ = at;
    }

    std::optional<interval> offset_;
    time_point learnt_at_{};
};

/// Returns the time since 1970 on the machine's calendar clock, which may jump. Use it only to
/// compare dates with other machines, and not to measure time.
inline std::chrono::microseconds wall_clock_time() {
    return std::chrono::floor<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

} // namespace holdfast::runtime
