// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/controlling_terminal.hpp"

#include <functional>

#include <sys/types.h>

namespace cli {

class inheritance;

/// The shell's job, from the view of the worker process.
struct job {
    controlling_terminal device;
    pid_t front; ///< the process that the shell waits for
    pid_t group; ///< the process group of the shell's job

    bool is_in_foreground() const noexcept { return device.foreground() == group; }

    /// Returns whether the front process was killed. Call it in the worker, which gets a SIGTERM
    /// when that happens.
    bool front_is_gone() const noexcept;

    /// Stops the job, like Ctrl-Z. Call it in the worker. When the shell continues the job, the
    /// worker gets a SIGCONT.
    void stop() const noexcept;
};

/// Calls `work` and returns its exit status. On a terminal, `work` runs in a child process (the
/// worker), and this process becomes the front:
///
///     shell ── waits for ──▶ front ── passes signals on ──▶ worker ──▶ the command
///                              ▲                              │
///                              └───── the command stopped ────┘
///
/// Ctrl-Z stops the shell's job, and a stopped process cannot renew a lock. So only the front
/// stops, and the worker continues. Every signal that the front gets is passed to the worker. If
/// the front is killed, the worker ends the job properly and then exits.
///
/// Without a terminal there is no Ctrl-Z. Then `work` runs in this process, without a job. Call it
/// while the process has only one thread.
int work_behind_job(const inheritance&, const std::function<int(const job*)>& work);

/// Ends the worker with that signal, and so the front and the job. A shell script must see that the
/// user pressed Ctrl-C. Does nothing for other signals. Call it in a worker.
void end_as_interrupted(int signal);

} // namespace cli
