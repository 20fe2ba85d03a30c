// SPDX-License-Identifier: Apache-2.0
// What a client can know about another machine's clock, from answers that carry its time.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::runtime {

/// Estimate of the offset between a server's clock and ours. Each answer says that the server's
/// clock showed `shown` at some moment between our sending and our receiving. So the offset lies in
/// an interval as wide as the round trip.
///
/// The intervals of several answers are intersected. An old interval is first widened by the
/// possible drift of the two clocks. If an answer contradicts the earlier ones, a clock was
/// stepped, and only the new answer counts. A step back by less than the width of the interval is
/// not noticed, and the estimate is wrong by at most that step. Answers must be learnt in the order
/// in which they came.
class remote_clock {
public:
    using microseconds = std::chrono::microseconds;

    /// The rates of two real clocks differ by at most 1 / `drift_divisor`. A lease has the same
    /// margin.
    static constexpr std::int64_t drift_divisor = 100;

    void learn(time_point sent_at, time_point received_at, microseconds shown) {
        // The interval is valid at `received_at`. Our own times are rounded down to a millisecond.
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

    /// Returns the latest time that the server's clock has surely reached when our clock shows
    /// `local`. So everything that the server allows only until that time is over by then. Returns
    /// nothing if the offset is unknown, or if `local` is too far away for a number of
    /// microseconds.
    std::optional<microseconds> no_later_than(time_point local) const {
        if (!offset_ || local > farthest)
            return std::nullopt;
        return count(local) + offset_->low - drift(std::chrono::abs(local - learnt_at_) + tick);
    }

private:
    struct interval {
        microseconds low, high; // of (server's clock - our clock)
    };
    static constexpr time_point farthest{duration::max() / 2000};
    static constexpr duration tick{1}; // resolution of our own clock

    static microseconds count(time_point t) { return t.time_since_epoch(); }

    /// Returns the possible drift in the time `passed`. The division is done in microseconds: in
    /// whole milliseconds the drift between answers less than `drift_divisor` ms apart would be
    /// zero.
    static microseconds drift(duration passed) { return microseconds{passed} / drift_divisor; }

    void remember(interval seen, time_point at) {
        offset_ = seen;
        learnt_at_ = at;
    }

    std::optional<interval> offset_;
    time_point learnt_at_{};
};

} // namespace holdfast::runtime
