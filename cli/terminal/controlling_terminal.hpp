// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>

#include <sys/types.h>
#include <termios.h>

namespace cli {

/// Terminal of our session. The process group in its foreground reads from it and gets the signals
/// of its keys. A process of another group that reads from it is stopped.
class controlling_terminal {
public:
    /// Opens the terminal. Returns nothing if there is none, as in a cron job.
    static std::optional<controlling_terminal> open();

    pid_t foreground() const noexcept;

    /// Brings the group to the foreground. Async-signal-safe; works from the background too.
    void give_to(pid_t group) const noexcept;

    /// Returns the settings for echo, line editing and signals; nothing if the terminal is gone.
    std::optional<termios> settings() const noexcept;

    /// Restores the settings. Works from the background too.
    void restore(const termios&) const noexcept;

    /// Returns whether our standard input is this terminal.
    static bool is_stdin() noexcept;

private:
    explicit controlling_terminal(descriptor opened)
        : device_{std::move(opened)} {}

    descriptor device_;
};

} // namespace cli
