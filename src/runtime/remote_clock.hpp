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
/// it means that a clock was stepped: then only the new one counts.
class remote_clock {
public:
    using microseconds = std::chrono::microseconds;

    /// Real clocks stay within this of each other's rate; the same margin as a lease's.
    static constexpr std::int64_t drift_divisor = 100;

    void learn(time_point sent_at, time_point received_at, microseconds shown) {
        // Our times are rounded down to a millisecond, so the answer may be that much later.
        const interval seen{shown - count(received_at + duration{1}), shown - count(sent_at)};
        if (!offset_) {
            remember(seen, received_at);
            return;
        }
        const microseconds slack = (received_at - learnt_at_) / drift_divisor;
        const interval both{std::max(offset_->low - slack, seen.low),
                            std::min(offset_->high + slack, seen.high)};
        remember(both.low <= both.high ? both : seen, received_at);
    }

    void forget() { offset_.reset(); }
    bool known() const { return offset_.has_value(); }

    /// The latest moment that clock can show no later than our `local`: what is allowed until then
    /// over there is over by `local` here. Nothing if the clock is not known.
    std::optional<microseconds> no_later_than(time_point local) const {
        if (!offset_ || local == time_point::max())
            return std::nullopt;
        const microseconds age_slack =
            std::max(microseconds{0}, microseconds{(local - learnt_at_) / drift_divisor});
        return count(local) + offset_->low - age_slack;
    }

private:
    struct interval {
        microseconds low, high; // of (that clock - ours)
    };
    static microseconds count(time_point t) { return t.time_since_epoch(); }

    void remember(interval seen, time_point at) {
        offset_ = seen;
        learnt_at_ = at;
    }

    std::optional<interval> offset_;
    time_point learnt_at_{};
};

} // namespace holdfast::runtime
