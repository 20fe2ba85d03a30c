// SPDX-License-Identifier: Apache-2.0
// Runs a command while its lock is held. Finds and ends all processes that the command has started,
// and ends the command when the lock is in danger or lost.
#pragma once

#include "cli/run/child_process.hpp"
#include "cli/run/coroutines.hpp"
#include "cli/run/job.hpp"
#include "cli/run/locked_run.hpp"
#include "cli/server/server_access.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <termios.h>

namespace cli {

/// All processes that the command has started, directly or indirectly (its descendants). They may
/// be in another process group or session, and their parent may have ended.
///
/// The list leaves out a private server that a `holdfast` command in the job has started, because
/// other programs use it, too.
class job_processes {
public:
    /// Makes this process the new parent of descendants whose parent ends. Children that exist
    /// already are not part of the job. (There are such children if a shell became `holdfast run`
    /// by exec.)
    job_processes();

    /// Reaps descendants that have exited, until it finds `command`: other code must read the exit
    /// status of `command`.
    void reap(pid_t command) const noexcept;

    /// Returns whether any process of the job except the command still runs.
    bool any_left(pid_t command) const;

    /// Sends the signal to all processes of the job outside of the command's group. A `holdfast
    /// run` among these processes passes the signal on to its own job.
    void signal(int number, pid_t group) const;

    /// Sends SIGKILL to each process of the job.
    void kill() const;

    /// Sends SIGTERM to each orphaned process (its parent has ended) that did not get the signal
    /// `heard` or ignores it. Each process gets SIGTERM only once. Processes with a living parent
    /// get no signal: their parent should stop them. Call it after the signal `heard` has ended the
    /// command.
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

/// The command and all processes that it has started.
class running_job {
public:
    /// Starts the command. Throws the errors of `child_process`.
    running_job(asio::io_context&, const inheritance&, const std::vector<std::string>& command,
                const child_settings&);

    /// Returns the process id of the command. This id is also the id of the command's process
    /// group.
    pid_t id() const noexcept { return group_; }

    /// Passes a signal on to the command's process group, or to all remaining processes of the job
    /// if the command has ended.
    void pass(int signal);

    /// Sends the signal to the command and to all its descendants, even to stopped processes.
    void stop(int signal);

    /// Sends SIGKILL to all processes of the job. Call `others_ended` afterwards: it repeats the
    /// signal until no process is left.
    void kill();

    /// Reaps orphaned descendants that have exited. Call it after each SIGCHLD.
    void child_changed();

    /// Returns the signal that has stopped the command since the last call, or nothing.
    std::optional<int> stopped_by() noexcept { return command_.stopped_by(); }

    /// Returns when the command has exited.
    asio::awaitable<void> command_ended() { return command_.ended(); }

    /// Returns the command's exit status as a shell does. Call it once, after the command has
    /// ended.
    int take_status();

    /// Waits until no process of the job is left, but at most for one second after `kill`: a
    /// process that hangs inside the kernel does not end. `heard` is the signal that has ended the
    /// command. Orphaned processes that did not get `heard` get SIGTERM.
    asio::awaitable<void> others_ended(std::optional<int> heard);

    /// Returns whether any process of the job except the command still runs.
    bool others_left() const { return others_.any_left(group_); }

private:
    asio::awaitable<void> child_changes(std::chrono::milliseconds at_most);

    // Processes of the job except the command. This member is declared before the command, because
    // children that exist before this object are not part of the job.
    job_processes others_;
    child_process command_;
    const pid_t group_;
    bool command_is_over_ = false;
    asio::steady_timer changed_;
    std::optional<holdfast::time_point> killed_at_;
};

/// Reason for stopping the command, for example `lock 'job' was lost`. Empty if the command was not
/// stopped.
using stop_reason = std::optional<std::string>;

/// Stops the job when its lock is in danger (the lease could not be renewed for some time) or lost.
/// Also stops the job when `orphaned` is requested: the process for which the shell waits was
/// killed. Prints the reason and stores it in `stop_reason`. Never returns.
///
/// The job always gets TERM first. The time until KILL depends on the reason:
///
/// - In danger: KILL when a third of the time is left that was left at TERM. After TERM with 9 s
///   left, KILL comes 6 s later.
/// - Lost, because the server refused a renewal: KILL a tenth of the lease later.
/// - Orphaned: KILL `usual_grace` later, or earlier, as in danger.
///
/// `on_loss` can set another signal than TERM, and another time until KILL. In danger, the time can
/// only become shorter. After a loss, it can also become longer, but at most half a lease: the
/// server refuses a renewal a third of a lease after the last granted one, so KILL still comes
/// within that lease.
///
/// A renewal may succeed after TERM was sent. The lock is then not in danger any more, and KILL
/// follows only if `on_loss` sets the time until KILL. `thing` names the lock in messages (see
/// `wanted_thing`).
asio::awaitable<void> guard(const holdfast::lease&, const std::string& thing, running_job&,
                            const on_loss&, const last_words&, std::stop_token orphaned,
                            stop_reason&);

struct job;

/// Holds the lock until the given time. Returns earlier in three cases: a signal asks this process
/// to end; another program asks for the lock, which stops `asked`; or the lock is lost. Prints a
/// message if the lock is lost. Ctrl-Z stops the shell's job, but not this process, which must
/// renew the lock.
asio::awaitable<void> hold_on(const holdfast::lease&, const std::string& thing,
                              holdfast::time_point until, signal_inbox&, const job* behind,
                              std::stop_token asked);

/// Runs the command while its lock is held. Passes signals and the terminal on to the command.
/// Stops the command if the lock is lost.
class command_run {
public:
    /// Creates the object. `behind` is the shell's job that contains this process, or null if there
    /// is no terminal. All arguments must outlive this object.
    command_run(asio::io_context&, const locked_run&, const inheritance&, signal_inbox&,
                const last_words&, const job* behind);

    /// Runs the command. Returns its exit status, or `lock_lost`. Throws `cannot_start` and
    /// `std::system_error`.
    asio::awaitable<int> under(const holdfast::lease&);

    /// Returns the keyboard signal (such as SIGINT) that has ended the command, or nothing.
    std::optional<int> interrupted_by() const noexcept { return interrupted_by_; }

    /// Returns whether the command was stopped because its lock was lost or in danger.
    bool was_stopped() const noexcept { return stopped_; }

    /// Returns whether a signal asked the command to end. The signal came to this process or from
    /// the keyboard.
    bool was_told_to_end() const noexcept { return heard_last_.has_value(); }

private:
    asio::awaitable<void> job_ends(running_job&, const stop_reason&, int& status);
    asio::awaitable<void> end_others(running_job&);
    asio::awaitable<void> pass_signals(running_job&);
    void pass(running_job&, int signal);
    /// Waits until another program asks for the lock, and then sends the signal of --on-ask to the
    /// command. Never returns.
    asio::awaitable<void> pass_wish(const holdfast::lease&, running_job&);
    void heed_stop(running_job&);
    std::vector<std::string> variables(const holdfast::lease&) const;
    void remember_terminal();
    void give_terminal(const running_job&);
    bool take_terminal_back(const running_job&) const;
    void mend_terminal(const stop_reason&) const;

    asio::io_context& loop_;
    const locked_run& wanted_;
    const inheritance& inherited_;
    signal_inbox& signals_;
    const last_words& heard_;
    const job* const behind_;
    const std::string thing_; ///< description of the lock in messages
    const bool reads_terminal_;
    /// Settings of the terminal before the command started.
    std::optional<termios> settings_;
    std::optional<int> heard_last_; ///< latest signal that asked the command to end
    sigset_t passed_{};             ///< all signals that were passed on to the command
    std::stop_source front_is_gone_;
    bool had_terminal_ = false;
    bool stopped_ = false;
    std::optional<int> interrupted_by_;
};

} // namespace cli
