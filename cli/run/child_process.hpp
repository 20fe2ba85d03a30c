// SPDX-License-Identifier: Apache-2.0
// Starts the command of `holdfast run` as a child process, in the state that this program had at
// its own start.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cli {

/// State of this process at its start. The command of `holdfast run` must get the same state: the
/// open descriptors (redirections of a shell), the ignored signals (nohup), and the blocked
/// signals. Later changes by this program are not passed on.
class inheritance {
public:
    /// Records the state of this process. Call this function first in main(), before a thread
    /// starts or a file is opened. The function also opens descriptors 0 to 2 if they are closed,
    /// ignores SIGPIPE, and stops ignoring SIGCHLD.
    static inheritance take();

    /// Returns whether the signal was ignored at the start.
    [[nodiscard]] bool ignores(int signal) const;

    /// Returns the signals that were blocked at the start.
    [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

    /// Restores the recorded state. The child process calls this function between fork and exec, so
    /// it makes only async-signal-safe calls.
    void hand_on() const noexcept;

private:
    std::vector<int> descriptors_; ///< sorted; empty if the list could not be read
    bool sigpipe_ignored_ = false;
    sigset_t mask_{};
};

namespace asio = holdfast::asio;
class controlling_terminal;

/// Exception: the command could not be executed. `error` is the value of errno.
struct cannot_start {
    int error;
};

/// Descriptors of the child's stdin, stdout and stderr.
struct standard_descriptors {
    int in = 0;
    int out = 1;
    int err = 2;
};

/// Environment variables and terminal of the child.
struct child_settings {
    standard_descriptors standard{};
    /// Environment variables: `NAME=value` sets or replaces a variable, `NAME` alone removes it.
    std::vector<std::string> variables{};
    const controlling_terminal* foreground_of =
        nullptr; ///< terminal in whose foreground the child starts, or null
};

/// Command that runs in its own process group and is killed if this process ends. The command gets
/// the descriptors, ignored signals and blocked signals that this program had at its start.
class child_process {
public:
    /// Starts the command with fork and exec, and waits until exec has succeeded. Throws
    /// `cannot_start` if exec fails.
    child_process(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                  const child_settings& = {});
    child_process(const child_process&) = delete;

    /// Kills the process group if the command still runs.
    ~child_process();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// Waits until the command has ended. Does not read its exit status, which would be lost if the
    /// call is cancelled.
    asio::awaitable<void> ended();

    /// Sends the signal to all processes of the command's group.
    void signal(int) noexcept;

    /// Returns the signal (such as SIGSTOP) that has stopped the command since the last call, or
    /// nothing. Call it after each SIGCHLD.
    [[nodiscard]] std::optional<int> stopped_by() noexcept;

    /// Returns the exit status of the command as a shell does: 128 + n if signal n has ended the
    /// command. Call it once, after the command has ended.
    int status();

private:
    pid_t id_ = -1;
    /// Pidfd of the command, if the system has pidfds.
    std::optional<asio::posix::stream_descriptor> ended_;
};

} // namespace cli
