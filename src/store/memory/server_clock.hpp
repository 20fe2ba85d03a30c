// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <cmath>
#include <functional>
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

    void step(duration by) { shown_at_anchor_ += by; }

    void set_rate(double rate) {
        shown_at_anchor_ = now();
        anchor_ = clients_();
        rate_ = rate;
    }

private:
    std::function<time_point()> clients_;
    time_point anchor_;
    microseconds shown_at_anchor_{std::chrono::seconds{1'000'000'000}}; // in September 2001
    double rate_ = 1.0;
};

} // namespace holdfast::memory
