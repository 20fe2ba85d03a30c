// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>

#include <sys/types.h>
#include <termios.h>

namespace cli {

/// The terminal of our session. The process group in its foreground reads from it and gets the
/// signals of its keys; any other that reads is stopped.
class controlling_terminal {
public:
    /// Nothing: there is none, as for a cron job.
    static std::optional<controlling_terminal> open();

    pid_t foreground() const noexcept;

    /// Async-signal-safe, and works from the background too.
    void give_to(pid_t group) const noexcept;

    /// How it echoes, edits and sends signals; nothing: it is gone.
    std::optional<termios> settings() const noexcept;

    /// Works from the background too.
    void restore(const termios&) const noexcept;

    /// Whether our standard input is this terminal.
    static bool is_stdin() noexcept;

private:
    explicit controlling_terminal(descriptor opened)
        : device_{std::move(opened)} {}

    descriptor device_;
};

} // namespace cli
