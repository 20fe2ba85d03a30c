// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

namespace holdfast::memory {

using microseconds = std::chrono::microseconds;

/// The server's own clock. Like a real one it shows a date, which no client's clock does: whoever
/// takes the one for the other is far off at once.
class server_clock {
public:
    explicit server_clock(std::function<time_point()> clients)
        : clients_{std::move(clients)}
        , anchor_{clients_()} {}

    microseconds now() const {
        const microseconds passed = clients_() - anchor_;
        return shown_at_anchor_ +
               microseconds{std::llround(static_cast<double>(passed.count()) * rate_)};
    }

    /// Of a lease that begins now. One longer than a hundred years has no end.
    microseconds end_of(duration lease_time) const {
        constexpr duration without_end = std::chrono::hours{24 * 36525};
        return lease_time > without_end ? never : now() + lease_time;
    }
    bool is_over(microseconds end) const { return end <= now(); }

    /// Nothing: it has no end.
    std::optional<duration> left(microseconds end) const {
        if (end == never)
            return std::nullopt;
        return std::chrono::ceil<duration>(end - now());
    }

    time_point clients_now() const { return clients_(); }

    void step(duration by) { shown_at_anchor_ += by; }

    void set_rate(double rate) {
        shown_at_anchor_ = now();
        anchor_ = clients_();
        rate_ = rate;
    }

private:
    static constexpr microseconds never = microseconds::max();

    std::function<time_point()> clients_;
    time_point anchor_;
    microseconds shown_at_anchor_{std::chrono::seconds{1'000'000'000}}; // in September 2001
    double rate_ = 1.0;
};

} // namespace holdfast::memory
