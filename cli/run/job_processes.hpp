// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace cli {

/// Descendants of the command. They may be in another group or session, and their parent may have
/// ended.
///
/// A private server that a `holdfast` command of the job has started does not count, because other
/// programs use it too.
class job_processes {
public:
    /// Makes this process the new parent of descendants that lose their parent. Children from
    /// before this call do not count. A shell that became `holdfast run` by exec may have such
    /// children.
    job_processes();

    /// Reaps adopted processes that have exited. Stops at `command`, because its status is read
    /// elsewhere.
    void reap(pid_t command) const noexcept;

    /// Returns whether any process of the job except the command still runs.
    bool any_left(pid_t command) const;

    /// Sends the signal to all processes of the job outside the command's group. A nested `holdfast
    /// run` passes the signal on itself.
    void signal(int number, pid_t group) const;

    /// Sends SIGKILL to each process of the job.
    void kill() const;

    /// Sends SIGTERM to processes without a parent that did not get the signal `heard`, or ignore
    /// it. Each process gets SIGTERM only once. Call it after `heard` was sent to the command's
    /// group and the command has ended. A process with a parent must be stopped by its parent.
    void tell_orphans(int heard, pid_t group);

private:
    struct process {
        pid_t id;
        pid_t parent;
        pid_t group;
        unsigned long long started;
    };
    /// Process id and start time. The start time is needed because the system reuses process ids.
    using identity = std::pair<pid_t, unsigned long long>;

    static std::vector<process> all_on_machine();
    std::vector<process> find(bool below_other_runs) const;

    std::set<identity> strangers_; ///< children that existed before this object
    std::set<identity> told_;
};

} // namespace cli
