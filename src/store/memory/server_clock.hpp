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

/// Clock of the server. It shows a date, as the clock of a real server does. A client's clock shows
/// no date, so code that confuses the clocks is wrong by years, and every test notices.
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

    /// Returns the end of a lease that begins now. A lease of more than a hundred years never ends.
    microseconds end_of(duration lease_time) const {
        constexpr duration without_end = std::chrono::hours{24 * 36525};
        return lease_time > without_end ? never : now() + lease_time;
    }
    bool is_over(microseconds end) const { return end <= now(); }

    /// Returns the time until `end`. Empty: `end` is never.
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
    microseconds shown_at_anchor_{std::chrono::seconds{1'000'000'000}}; // a date in September 2001
    double rate_ = 1.0;
};

} // namespace holdfast::memory
