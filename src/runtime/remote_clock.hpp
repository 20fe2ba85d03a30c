// SPDX-License-Identifier: Apache-2.0
// What a client can know of another machine's clock from answers that carry its time.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::runtime {

/// Each answer says: between our sending and our receiving, that clock showed `shown`. So its
/// offset from ours lies in an interval as wide as the round trip; intervals of several answers are
/// intersected, and widened with age, since two clocks drift. An answer that contradicts all before
/// it means that a clock was stepped: then only the new one counts. (A step back by less than the
/// width of an interval goes unseen, and the estimate is late by as much.) Answers are learnt in
/// the order in which they came.
class remote_clock {
public:
    using microseconds = std::chrono::microseconds;

    /// Real clocks stay within this of each other's rate; the same margin as a lease's.
    static constexpr std::int64_t drift_divisor = 100;

    void learn(time_point sent_at, time_point received_at, microseconds shown) {
        // As it is when the answer arrives. Our times are rounded down to a millisecond.
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

    /// The latest moment that clock can show no later than our `local`: what is allowed until then
    /// over there is over by `local` here. Nothing if the clock is not known, or for a moment so
    /// far away that it has no number of microseconds.
    std::optional<microseconds> no_later_than(time_point local) const {
        if (!offset_ || local > farthest)
            return std::nullopt;
        return count(local) + offset_->low - drift(std::chrono::abs(local - learnt_at_) + tick);
    }

private:
    struct interval {
        microseconds low, high; // of (that clock - ours)
    };
    static constexpr time_point farthest{duration::max() / 2000};
    static constexpr duration tick{1}; // what our own clock does not tell

    static microseconds count(time_point t) { return t.time_since_epoch(); }

    /// Divided in microseconds: in milliseconds, answers closer together than drift_divisor of them
    /// would never be seen to drift at all.
    static microseconds drift(duration passed) { return microseconds{passed} / drift_divisor; }

    void remember(interval seen, time_point at) {
        offset_ = seen;
        learnt_at_ = at;
    }

    std::optional<interval> offset_;
    time_point learnt_at_{};
};

} // namespace holdfast::runtime
