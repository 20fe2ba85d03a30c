// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>

namespace cli {

/// What the command gets when its lock is lost, and how long it has until KILL.
struct on_loss {
    int signal = SIGTERM;
    std::optional<std::chrono::duration<double>> grace{}; ///< nothing: as long as the lease allows
};

/// The grace of a job that was told to end while its lock is safe, if none is given.
inline constexpr std::chrono::seconds usual_grace{10};

/// Returns the grace that was asked for, at most a day.
std::optional<holdfast::duration> grace_of(const on_loss&);

/// `SIGNAL[:GRACE]`, as `INT`, `SIGTERM:5s`, `15:0`. Throws `usage_error` with what is allowed.
on_loss parse_on_loss(std::string_view);

} // namespace cli
