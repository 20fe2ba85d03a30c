// SPDX-License-Identifier: Apache-2.0
// Signals that `holdfast run` handles on behalf of its command.
#pragma once

#include <csignal>

namespace cli {

class inheritance;

/// Blocks all signals that can be blocked, except the ignored signals and TTIN and TTOU. Returns
/// the blocked set. Read it with signalfd() or sigwaitinfo(). The default action of most signals
/// would kill only this process. The command would run on without a renewed lock, and the lock
/// would stay held until its lease ends.
///
/// The set includes SIGPIPE, unless it was ignored at the start. A write of this process to a
/// closed pipe raises SIGPIPE too, see `is_own_pipe`.
sigset_t block_signals_of_job(const inheritance&);

/// Returns whether a write of this process to a closed pipe has raised the signal. `sender` is the
/// process that sent the signal.
bool is_own_pipe(int signal, pid_t sender);

/// Returns whether the signal asks the command to end. Users and containers stop a program with
/// INT, TERM, HUP, QUIT, PWR or RTMIN+3. Without a terminal, WINCH counts too, because no window
/// size can have changed.
bool asks_to_end(int signal, bool on_terminal);

/// Returns whether the signal ends a process that waits for a lock. True if the signal asks for the
/// end, or if its default action ends a process.
bool ends_wait(int signal, bool on_terminal);

} // namespace cli
