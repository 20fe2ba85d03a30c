// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace cli {

/// The processes that come from the command: its descendants, also those in another group or
/// session, and those whose parent has ended.
///
/// A private server that a `holdfast` command of the job has started is not of the job: it serves
/// other programs too.
class job_processes {
public:
    /// From now on this process adopts its descendants that lose their parent. Children that it has
    /// already are not of the job: a shell that became `holdfast run` by exec may have some.
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

    /// After the command has ended because `heard` was sent to its group: sends SIGTERM, once, to
    /// each process without a parent that has not got `heard` or ignores it. A process with a
    /// parent is that parent's to stop.
    void tell_orphans(int heard, pid_t group);

private:
    struct process {
        pid_t id;
        pid_t parent;
        pid_t group;
        unsigned long long started;
    };
    using identity = std::pair<pid_t, unsigned long long>; ///< a number alone may be used again

    static std::vector<process> all_on_machine();
    std::vector<process> find(bool below_other_runs) const;

    std::set<identity> strangers_; ///< the children that we had before
    std::set<identity> told_;
};

} // namespace cli
