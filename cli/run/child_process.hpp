// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cli {

namespace asio = holdfast::asio;
class inheritance;
class controlling_terminal;

/// Exception: the command could not be executed. `error` is the value of errno.
struct cannot_start {
    int error;
};

/// First three descriptors of the child.
struct standard_descriptors {
    int in = 0;
    int out = 1;
    int err = 2;
};

/// Other settings of the child's environment.
struct surroundings {
    standard_descriptors standard{};
    /// `NAME=value` sets or replaces an environment variable; `NAME` alone removes it.
    std::vector<std::string> variables{};
    const controlling_terminal* foreground_of =
        nullptr; ///< terminal in whose foreground the child starts, or null
};

/// Command in a process group of its own, which is killed if this process ends. The command gets
/// the descriptors, ignored signals and blocked signals with which this program was started. It
/// gets nothing that this program added.
class child_process {
public:
    /// Starts the command and returns when it has been executed. Throws `cannot_start`.
    child_process(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                  const surroundings& = {});
    child_process(const child_process&) = delete;

    /// Kills the group if the command still runs.
    ~child_process();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// Returns when the command has ended. Does not reap it, so this call may be cancelled without
    /// harm.
    asio::awaitable<void> ended();

    /// Sends the signal to the command and to all processes in its group.
    void signal(int) noexcept;

    /// Call after a SIGCHLD. Returns the signal that has stopped the command since the last call,
    /// if it was stopped.
    [[nodiscard]] std::optional<int> stopped_by() noexcept;

    /// Reaps the command; call once, after its end. Returns the exit status as a shell does: 128 +
    /// n for a signal.
    int status();

private:
    pid_t id_ = -1;
    std::optional<asio::posix::stream_descriptor> ended_; ///< its pidfd, if the system has pidfds
};

} // namespace cli
