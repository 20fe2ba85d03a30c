// SPDX-License-Identifier: Apache-2.0
// Timeouts of requests, pauses between attempts to connect, and reports about servers that cannot
// be reached.
#pragma once

#include "net/failure.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::net {

/// Returns `from + length`, or time_point::max() ("never") if the sum would overflow. `length` must
/// not be negative.
constexpr time_point later(time_point from, duration length) {
    return from > time_point::max() - length ? time_point::max() : from + length;
}

/// Timer that lasts as long as this object. The timer calls `late` on the executor at the given
/// time, unless the object is destroyed before that time.
class time_limit {
public:
    time_limit(const store_context&, time_point when, std::function<void()> late);
    time_limit(const time_limit&) = delete;
    ~time_limit();

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Deadline timer for many requests: calls a function when the first deadline is reached. One alarm
/// serves all deadlines. A request that completes before its deadline need not be removed.
class deadline_timer {
public:
    /// Creates the timer. `next` returns the first deadline, or `time_point::max()` if there is no
    /// deadline. `reached` is called when the first deadline is reached.
    deadline_timer(const store_context&, std::function<time_point()> next,
                   std::function<void(time_point now)> reached);
    deadline_timer(const deadline_timer&) = delete;

    /// Adds a deadline. Keeps the object `keep` alive until no deadlines are left.
    void watch_for(time_point limit, std::shared_ptr<void> keep);

    void close();

private:
    asio::awaitable<void> watch(std::shared_ptr<void> keep);

    const store_context& home_;
    const std::function<time_point()> next_;
    const std::function<void(time_point)> reached_;
    const std::unique_ptr<alarm> alarm_;
    time_point asleep_until_{};
    bool watching_ = false;
    bool closed_ = false;
};

/// Pauses between attempts to connect. The pauses grow exponentially: each pause is chosen at
/// random between `least` and three times the previous pause, but is never longer than `most`. So
/// clients that lost the same server at the same time do not reconnect at the same time.
class backoff {
public:
    backoff(duration least, duration most)
        : least_{std::max(least, duration{1})}
        , most_{std::max(most, least_)} {}

    duration next(std::uint64_t random) {
        const duration highest = std::min(most_, previous_ > most_ / 3 ? most_ : previous_ * 3);
        const auto choices = static_cast<std::uint64_t>((highest - least_).count()) + 1;
        previous_ = least_ + duration{static_cast<duration::rep>(random % choices)};
        return previous_;
    }

    void reset() { previous_ = least_; }

private:
    duration least_, most_;
    duration previous_ = least_;
};

/// Reporter of outages: tells the user's observer when a server becomes unreachable and when the
/// server is reachable again. Each outage is reported once, even if many attempts to connect fail.
class connectivity_reporter {
public:
    /// Creates the reporter. `home` must outlive it.
    explicit connectivity_reporter(const store_context& home)
        : home_{home} {}

    void gone(const std::string& address, const failure& why);
    void back(const std::string& address);

private:
    const store_context& home_;
    std::optional<time_point> gone_since_;
};

/// Reports to the user's observer that a server denies a feature. Locks work without this feature.
void tell_impaired(const store_context&, const std::string& address, const failure& why);

} // namespace holdfast::net
