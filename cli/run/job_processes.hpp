// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace cli {

/// Processes that come from the command: its descendants, including those in another group or
/// session, and those whose parent has ended.
///
/// A private server that a `holdfast` command of the job has started does not belong to the job,
/// because it serves other programs too.
class job_processes {
public:
    /// Makes this process adopt its descendants when they lose their parent. Children that exist
    /// before this call do not belong to the job: a shell that became `holdfast run` by exec may
    /// have some.
    job_processes();

    /// Reaps adopted processes that have exited. Stops at `command`, whose status is read
    /// elsewhere.
    void reap(pid_t command) const noexcept;

    /// Returns whether a process of the job still runs, apart from the command.
    bool any_left(pid_t command) const;

    /// Sends the signal to each process of the job that is not in the command's group. A `holdfast
    /// run` among them passes it on itself.
    void signal(int number, pid_t group) const;

    /// Sends SIGKILL to each process of the job.
    void kill() const;

    /// Call after the command has ended because `heard` was sent to its group. Sends SIGTERM, once,
    /// to each process without a parent that did not get `heard` or ignores it. A process with a
    /// parent must be stopped by that parent.
    void tell_orphans(int heard, pid_t group);

private:
    struct process {
        pid_t id;
        pid_t parent;
        pid_t group;
        unsigned long long started;
    };
    using identity = std::pair<pid_t, unsigned long long>; ///< includes the start time, because the
                                                           ///< system reuses process numbers

    static std::vector<process> all_on_machine();
    std::vector<process> find(bool below_other_runs) const;

    std::set<identity> strangers_; ///< children that existed before
    std::set<identity> told_;
};

} // namespace cli
