// SPDX-License-Identifier: Apache-2.0
// `holdfast run` as a job of the shell: the terminal, the signals, and two processes. When the user
// presses Ctrl-Z, one of the two processes stops, and the other continues to renew the lock.
#pragma once

#include "cli/descriptor.hpp"

#include <holdfast/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <functional>
#include <optional>

#include <sys/types.h>
#include <termios.h>

namespace cli {

/// Terminal of this process's session. Only the process group in the foreground can read from it
/// and gets the signals of keys such as Ctrl-C. If a process of another group reads from the
/// terminal, the kernel stops that process.
class controlling_terminal {
public:
    /// Opens the terminal. Returns nothing if there is no terminal, for example in a cron job.
    static std::optional<controlling_terminal> open();

    pid_t foreground() const noexcept;

    /// Brings the process group to the foreground. The function is async-signal-safe. It also works
    /// while this process is in the background.
    void give_to(pid_t group) const noexcept;

    /// Returns the settings for echo, line editing and signals. Returns nothing if the terminal is
    /// gone.
    std::optional<termios> settings() const noexcept;

    /// Restores the settings of the terminal. The function also works while this process is in the
    /// background.
    void restore(const termios&) const noexcept;

    /// Returns whether stdin is the controlling terminal.
    static bool is_stdin() noexcept;

private:
    explicit controlling_terminal(descriptor opened)
        : device_{std::move(opened)} {}

    descriptor device_;
};

// Functions for the signals that `holdfast run` receives for its command.

class inheritance;

/// Blocks all signals that can be blocked, except ignored signals, TTIN and TTOU. Returns the
/// blocked signals, for signalfd() or sigwaitinfo(). An unblocked signal would kill only this
/// process: the command would continue while nobody renews its lock.
///
/// The set includes SIGPIPE, unless SIGPIPE was ignored at the start. A write of this process to a
/// closed pipe also raises SIGPIPE; see `is_own_pipe`.
sigset_t block_signals_of_job(const inheritance&);

/// Returns whether the signal is a SIGPIPE that this process itself has caused, by a write to a
/// closed pipe. `sender` is the process that sent the signal.
bool is_own_pipe(int signal, pid_t sender);

/// Returns whether the signal asks the command to end. Users and containers stop a program with
/// INT, TERM, HUP, QUIT, PWR or RTMIN+3. Without a terminal, WINCH also asks the command to end,
/// because there is no window whose size could change.
bool asks_to_end(int signal, bool on_terminal);

/// Returns whether the signal ends a process that waits for a lock. This is the case if the signal
/// asks for the end, or if its default action ends a process.
bool ends_wait(int signal, bool on_terminal);

namespace asio = holdfast::asio;

/// Receives the signals that are sent to this process, including SIGCHLD. The constructor blocks
/// the signals, and this object reads them from a descriptor. So no signal is lost, and no signal
/// interrupts a call. Create this object before any thread starts, so that the signals are blocked
/// in all threads.
class signal_inbox {
public:
    /// Blocks the signals. Signals that were ignored at the start of the program stay ignored,
    /// because nohup relies on this.
    signal_inbox(asio::io_context&, const inheritance&);
    signal_inbox(const signal_inbox&) = delete;

    /// Waits until a signal can be read with take(). Does not read the signal, so that a cancelled
    /// wait loses no signal.
    asio::awaitable<void> arrival();
    [[nodiscard]] std::optional<int> take();

    /// Unblocks the signals, so that the next Ctrl-C ends this program at once.
    void let_through();

private:
    const inheritance& inherited_;
    asio::posix::stream_descriptor descriptor_;
};

/// The shell's job, as the worker process sees it. The job consists of the front process, for which
/// the shell waits, and the worker, which renews the lock.
struct job {
    controlling_terminal device;
    pid_t front; ///< the process that the shell waits for
    pid_t group; ///< the process group of the shell's job

    bool is_in_foreground() const noexcept { return device.foreground() == group; }

    /// Returns whether the front process was killed. Call it in the worker when the worker gets
    /// SIGTERM: the kernel sends this signal when the front process ends.
    bool front_is_gone() const noexcept;

    /// Stops the front process, so that the shell sees a stopped job, as after Ctrl-Z. Call it in
    /// the worker. The worker gets SIGCONT when the shell continues the job.
    void stop() const noexcept;
};

/// Calls `work` and returns its exit status. On a terminal, `work` runs in a child process (the
/// worker), and this process becomes the front process:
///
///     shell ── waits for ──▶ front ── passes signals on ──▶ worker ──▶ the command
///                              ▲                              │
///                              └───── the command stopped ────┘
///
/// Ctrl-Z stops the shell's job, and a stopped process cannot renew a lock. So only the front
/// process stops, and the worker continues. The front process passes every signal on to the worker.
/// If the front process is killed, the worker ends the job properly and then exits.
///
/// Without a terminal there is no Ctrl-Z, so `work` runs in this process, and its argument is null.
/// Call the function while the process has only one thread.
int work_behind_job(const inheritance&, const std::function<int(const job*)>& work);

/// If the signal is SIGINT or SIGQUIT, ends the worker by this signal, and with the worker the
/// whole job. So a shell script sees that the user pressed Ctrl-C. Call this function in a worker.
void end_as_interrupted(int signal);

} // namespace cli
