// SPDX-License-Identifier: Apache-2.0
// Which signals `holdfast run` takes for its command, and what they mean.
#pragma once

#include <csignal>

namespace cli {

class inheritance;

/// Blocks every signal that can be blocked, except the ignored ones and TTIN and TTOU, and returns
/// the blocked set. Read it with signalfd() or sigwaitinfo(): the default action of most signals
/// would end this process, leave the command running and keep the lock taken until its lease ends.
///
/// SIGPIPE is among them unless it was ignored at the start. A write of our own to a closed pipe
/// raises it too: `is_own_pipe` tells that one.
sigset_t block_signals_of_job(const inheritance&);

/// Returns whether our own write to a closed pipe has raised the signal; `sender` is its process.
bool is_own_pipe(int signal, pid_t sender);

/// Returns whether the sender wants the command to end. These are the signals by which people and
/// containers stop a program: INT, TERM, HUP, QUIT, PWR, RTMIN+3, and WINCH where no terminal can
/// have changed its size.
bool asks_to_end(int signal, bool on_terminal);

/// Returns whether the signal ends a process that waits for a lock: if it asks for the end, or if
/// its default action would have ended the process.
bool ends_wait(int signal, bool on_terminal);

} // namespace cli
