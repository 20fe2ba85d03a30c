// SPDX-License-Identifier: Apache-2.0
// Signals that `holdfast run` handles for its command, and their meaning.
#pragma once

#include <csignal>

namespace cli {

class inheritance;

/// Blocks every signal that can be blocked, except the ignored signals and TTIN and TTOU. Returns
/// the blocked set, to be read with signalfd() or sigwaitinfo(). The default action of most signals
/// would end this process, leave the command running, and keep the lock taken until its lease ends.
///
/// The set includes SIGPIPE, unless it was ignored at the start. Our own write to a closed pipe
/// raises SIGPIPE too; `is_own_pipe` recognizes that case.
sigset_t block_signals_of_job(const inheritance&);

/// Returns whether our own write to a closed pipe has raised the signal. `sender` is the process
/// that sent it.
bool is_own_pipe(int signal, pid_t sender);

/// Returns whether the signal asks the command to end. People and containers stop a program with
/// INT, TERM, HUP, QUIT, PWR or RTMIN+3. WINCH counts too if there is no terminal whose size could
/// have changed.
bool asks_to_end(int signal, bool on_terminal);

/// Returns whether the signal ends a process that waits for a lock. That is so if the signal asks
/// for the end, or if its default action would have ended the process.
bool ends_wait(int signal, bool on_terminal);

} // namespace cli
