// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/controlling_terminal.hpp"

#include <functional>

#include <sys/types.h>

namespace cli {

class inheritance;

/// The shell's job, as the worker process sees it.
struct job {
    controlling_terminal device;
    pid_t front; ///< the process that the shell waits for
    pid_t group; ///< the process group of the shell's job

    bool is_in_foreground() const noexcept { return device.foreground() == group; }

    /// Called in the worker: returns whether the front has been killed. The worker then gets a
    /// TERM.
    bool front_is_gone() const noexcept;

    /// Called in the worker: stops the job, as Ctrl-Z does. When the shell continues the job, the
    /// worker gets a SIGCONT.
    void stop() const noexcept;
};

/// Calls `work` and returns its exit status. On a terminal, `work` runs in a separate process
/// behind this one:
///
///     shell ── waits for ──▶ front ── passes signals on ──▶ worker ──▶ the command
///                              ▲                              │
///                              └───── the command stopped ────┘
///
/// Ctrl-Z stops the shell's job, and a stopped process renews no lock. So the front stops, for the
/// shell, and the worker continues. The worker behaves as if it were the front: it gets the same
/// signals. If the front is killed, the worker ends the job in order and then itself.
///
/// Without a terminal, Ctrl-Z cannot be pressed, so `work` runs in this process without a job. Call
/// with one thread.
int work_behind_job(const inheritance&, const std::function<int(const job*)>& work);

/// In a worker: ends the worker by that signal, and so the front and the job, because a shell
/// script must see that Ctrl-C was pressed. Does nothing for other signals.
void end_as_interrupted(int signal);

} // namespace cli
