// SPDX-License-Identifier: Apache-2.0
// Checks the histories of workers at latches and rate limiters.
#pragma once

#include "interop/history.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::interop {

// What workers wrote down of latches that are set again and again: whether it can be true.

/// Each time, in words, that a latch was open for somebody though it had not been counted down so
/// often: a waiter was let through, or it was set anew. And each that it was shut for somebody who
/// wanted to set it, though it must have been open.
std::vector<std::string> wrong_openings(const std::vector<deed>&);

/// Each waiter, in words, who waited for longer than that while its latch must have been open: one
/// that is told late may miss an opening that is shorter.
std::vector<std::string> forgotten_at_latches(const std::vector<deed>&, moment timeout);

/// How many openings were longer than that, of all latches: each shows whether all were let
/// through.
std::size_t long_openings(const std::vector<deed>&, moment);

// Whether a rate is ever exceeded, whoever draws: by what workers wrote down, and by what the
// server has. Both sides' clients date draws, JVMs by their own clocks, before they ask; so a draw
// counts here from when it was dated, or asked for, until it is seen, or told.

/// At most so many in any so long a time.
struct limit {
    std::int64_t permits;
    duration interval;
};

/// Of a draw, as it is on the server: its last four bytes, the lowest first
/// (docs/protocol/rate.md).
std::int64_t permits_in(const std::string& draw);

/// Each time, in words, that more of a name were surely drawn within an interval, as their drawers
/// know.
std::vector<std::string> drawn_too_fast(const std::vector<deed>&, limit);

/// What one rate limiter has drawn, looked at again and again.
class window {
public:
    window(std::string name, limit how)
        : name_{std::move(name)}
        , how_{how} {}

    /// The draws that the server has at a moment of its clock: member, and ms at which it was
    /// drawn.
    void saw(duration now, const std::map<std::string, duration>& draws);

    std::int64_t drawn() const { return drawn_; } ///< in all, but for what was given back
    std::int64_t given_back() const { return given_back_; }
    std::int64_t most() const { return most_; } ///< that counted at a time
    /// Nobody looked for so long at most. Draws that came and went meanwhile are not known.
    duration blind() const { return blind_; }
    const std::vector<std::string>& troubles() const { return troubles_; }

private:
    bool counts(duration at, duration now) const { return at > now - how_.interval; }

    std::string name_;
    limit how_;
    std::map<std::string, duration> known_; // those that count, and older ones still there
    std::int64_t drawn_ = 0, given_back_ = 0, most_ = 0;
    duration last_look_{0}, blind_{0};
    std::vector<std::string> troubles_;
};

/// Looks at rate limiters of a server all the time, on a connection of its own.
class rate_watch {
public:
    /// Of plain names, without braces.
    rate_watch(support::redis_server&, const std::vector<std::string>& names, limit);

    /// Looks once more, and no more; it is not connected then.
    std::map<std::string, window> stop();

private:
    void look();
    void watch(const std::stop_token& over);

    std::optional<support::redis_connection> connection_;
    std::map<std::string, window> windows_;
    std::jthread thread_;
};

} // namespace holdfast::interop
