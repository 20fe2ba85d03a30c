// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/controlling_terminal.hpp"

#include <functional>

#include <sys/types.h>

namespace cli {

class inheritance;

/// What stands between a worker and the shell of its terminal.
struct job {
    controlling_terminal device;
    pid_t front; ///< the process that the shell waits for
    pid_t group; ///< the one of the shell's job

    bool is_in_foreground() const noexcept { return device.foreground() == group; }

    /// Called in the worker: whether the front has been killed. The worker gets a TERM then.
    bool front_is_gone() const noexcept;

    /// Called in the worker: stops the job, as Ctrl-Z does. When the shell continues it, the worker
    /// gets a SIGCONT.
    void stop() const noexcept;
};

/// Does the work, and answers its exit status. On a terminal, in a process behind this one:
///
///     shell ── waits for ──▶ front ── passes signals on ──▶ worker ──▶ the command
///                              ▲                              │
///                              └───── the command stopped ────┘
///
/// With Ctrl-Z a shell's job stops, and whoever is stopped renews no lock. So the front stops, for
/// the shell, and the worker does not. Nothing else of the worker's is different there: it gets the
/// signals, and if the front is killed it ends the job in order and then itself.
///
/// Without a terminal there is nobody to press Ctrl-Z, and the work is done here, without a job.
/// Call with one thread.
int work_behind_job(const inheritance&, const std::function<int(const job*)>& work);

/// In a worker: ends it by that signal, and so the front, and the job: a shell's script must see
/// that Ctrl-C was pressed. Others return.
void end_as_interrupted(int signal);

} // namespace cli
