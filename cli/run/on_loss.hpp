// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>

namespace cli {

/// Signal that the command gets when its lock is lost, and the time from then until KILL.
struct on_loss {
    int signal = SIGTERM;
    std::optional<std::chrono::duration<double>> grace{}; ///< if empty, as long as the lease allows
};

/// Default grace of a job that is told to end while its lock is safe.
inline constexpr std::chrono::seconds usual_grace{10};

/// Returns the grace that was asked for, at most a day.
std::optional<holdfast::duration> grace_of(const on_loss&);

/// Parses `SIGNAL[:GRACE]`, for example `INT`, `SIGTERM:5s` or `15:0`. Throws `usage_error`, with
/// the allowed values in the message.
on_loss parse_on_loss(std::string_view);

} // namespace cli
