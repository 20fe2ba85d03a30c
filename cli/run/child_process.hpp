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

/// The command could not be executed; `error` is errno's value.
struct cannot_start {
    int error;
};

/// What the child gets as its first three descriptors.
struct standard_descriptors {
    int in = 0;
    int out = 1;
    int err = 2;
};

/// What else the child finds.
struct surroundings {
    standard_descriptors standard{};
    /// `NAME=value`, which win over the environment's; `NAME` takes it away.
    std::vector<std::string> variables{};
    const controlling_terminal* foreground_of =
        nullptr; ///< this terminal listens to it from the start
};

/// A command in a process group of its own, which does not outlive this process. It finds the
/// descriptors, the ignored signals and the blocked signals that we were started with, and none of
/// ours.
class child_process {
public:
    /// Returns when the command has been executed; throws `cannot_start`.
    child_process(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                  const surroundings& = {});
    child_process(const child_process&) = delete;

    /// Kills the group if the command still runs.
    ~child_process();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// Returns when the command has ended; takes nothing, so it may lose a race without harm.
    asio::awaitable<void> ended();

    /// To the command and whatever it started in its group.
    void signal(int) noexcept;

    /// Asked after a SIGCHLD: the signal that has stopped it since the last time, if one has.
    [[nodiscard]] std::optional<int> stopped_by() noexcept;

    /// Call once it has ended. The exit status as a shell gives it: 128 + n for a signal.
    int status();

private:
    pid_t id_ = -1;
    std::optional<asio::posix::stream_descriptor> ended_; ///< its pidfd, where the system has one
};

} // namespace cli
