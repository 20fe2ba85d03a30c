// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>

namespace cli {

/// Reaction to a lost lock: the signal for the command, and the time from the signal until KILL.
struct on_loss {
    int signal = SIGTERM;
    /// Time until KILL; if empty, as long as the lease allows.
    std::optional<std::chrono::duration<double>> grace{};
};

/// Default time from TERM to KILL for a job that is told to end while its lock is safe.
inline constexpr std::chrono::seconds usual_grace{10};

/// Returns the user's time until KILL, at most one day. Empty if the user gave none.
std::optional<holdfast::duration> grace_of(const on_loss&);

/// Parses `SIGNAL[:GRACE]`, for example `INT`, `SIGTERM:5s` or `15:0`. Throws `usage_error` with
/// the allowed values in its message.
on_loss parse_on_loss(std::string_view);

} // namespace cli
