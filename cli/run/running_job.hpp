// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/child_process.hpp"
#include "cli/run/job_processes.hpp"
#include "cli/run/until_first.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <optional>

namespace cli {

/// Command and the processes that it has started.
class running_job {
public:
    /// Starts the command. Throws as `child_process` does.
    running_job(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                const surroundings&);

    /// Returns the id of the command, which is also the id of its process group.
    pid_t id() const noexcept { return group_; }

    /// Passes a signal on: to the command's group, or after the command's end to all remaining
    /// processes.
    void pass(int signal);

    /// Sends the signal to the command and to all processes that come from it, also stopped ones.
    void stop(int signal);

    /// Sends SIGKILL to all processes of the job. `others_ended` sends it to those that remain.
    void kill();

    /// Call after each SIGCHLD: reaps the adopted processes that have exited.
    void child_changed();

    /// Returns the signal that has stopped the command since the last call, if it was stopped.
    std::optional<int> stopped_by() noexcept { return command_.stopped_by(); }

    /// Returns when the command has exited.
    asio::awaitable<void> command_ended() { return command_.ended(); }

    /// Returns the command's exit status, as a shell gives it. Call once, after its end.
    int take_status();

    /// Returns when no process of the job is left, or one second after `kill`, because a process
    /// that hangs inside the kernel does not die at once. `heard` is the signal because of which
    /// the command has ended. Processes that did not get it get SIGTERM.
    asio::awaitable<void> others_ended(std::optional<int> heard);

    /// Returns whether a process of the job still runs, apart from the command.
    bool others_left() const { return others_.any_left(group_); }

private:
    asio::awaitable<void> child_changes(std::chrono::milliseconds at_most);

    // constructed before the command, because earlier children do not belong to the job
    job_processes others_;
    child_process command_;
    const pid_t group_;
    bool command_is_over_ = false;
    asio::steady_timer changed_;
    std::optional<holdfast::time_point> killed_at_;
};

} // namespace cli
