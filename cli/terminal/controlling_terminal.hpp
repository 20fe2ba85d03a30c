// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>

#include <sys/types.h>
#include <termios.h>

namespace cli {

/// Terminal of this process's session. The process group in the foreground reads from it and gets
/// the signals of its keys. A process in another group is stopped when it reads from the terminal.
class controlling_terminal {
public:
    /// Opens the terminal. Returns nothing if there is no terminal, for example in a cron job.
    static std::optional<controlling_terminal> open();

    pid_t foreground() const noexcept;

    /// Brings the group to the foreground. Async-signal-safe. Also works in the background.
    void give_to(pid_t group) const noexcept;

    /// Returns the settings for echo, line editing and signals. Returns nothing if the terminal is
    /// gone.
    std::optional<termios> settings() const noexcept;

    /// Restores the settings. Also works in the background.
    void restore(const termios&) const noexcept;

    /// Returns whether stdin is this terminal.
    static bool is_stdin() noexcept;

private:
    explicit controlling_terminal(descriptor opened)
        : device_{std::move(opened)} {}

    descriptor device_;
};

} // namespace cli
