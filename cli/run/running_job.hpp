// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/child_process.hpp"
#include "cli/run/job_processes.hpp"
#include "cli/run/until_first.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <optional>

namespace cli {

/// The command and all processes that it has started.
class running_job {
public:
    /// Starts the command. Throws the errors of `child_process`.
    running_job(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                const surroundings&);

    /// Returns the process id of the command. It is also the id of the command's process group.
    pid_t id() const noexcept { return group_; }

    /// Passes a signal on. It goes to the command's group, or to all remaining processes after the
    /// command has ended.
    void pass(int signal);

    /// Sends the signal to the command and all its descendants, even if they are stopped.
    void stop(int signal);

    /// Sends SIGKILL to all processes of the job. `others_ended` sends it again to remaining
    /// processes.
    void kill();

    /// Reaps adopted processes that have exited. Call it after each SIGCHLD.
    void child_changed();

    /// Returns the signal that has stopped the command since the last call, or nothing.
    std::optional<int> stopped_by() noexcept { return command_.stopped_by(); }

    /// Returns when the command has exited.
    asio::awaitable<void> command_ended() { return command_.ended(); }

    /// Returns the command's exit status as a shell does. Call it once, after the command has
    /// ended.
    int take_status();

    /// Returns when no process of the job is left. After `kill` it returns within one second,
    /// because a process that hangs inside the kernel does not die at once. `heard` is the signal
    /// that has ended the command. Processes that did not get `heard` get SIGTERM.
    asio::awaitable<void> others_ended(std::optional<int> heard);

    /// Returns whether any process of the job except the command still runs.
    bool others_left() const { return others_.any_left(group_); }

private:
    asio::awaitable<void> child_changes(std::chrono::milliseconds at_most);

    // constructed before the command, because earlier children do not count as part of the job
    job_processes others_;
    child_process command_;
    const pid_t group_;
    bool command_is_over_ = false;
    asio::steady_timer changed_;
    std::optional<holdfast::time_point> killed_at_;
};

} // namespace cli
