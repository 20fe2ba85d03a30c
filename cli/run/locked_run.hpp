// SPDX-License-Identifier: Apache-2.0
// A whole `holdfast run`: takes the lock, runs the command, releases the lock. The file also has
// the options of the run, and the locks of outer `holdfast run` commands.
#pragma once

#include "cli/command_line.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Reaction to a lost lock: the signal for the command, and the time from that signal until KILL.
struct on_loss {
    int signal = SIGTERM;
    /// Time from the signal until KILL. If empty, KILL comes as late as the lease allows.
    std::optional<std::chrono::duration<double>> grace{};
};

/// Default time from TERM to KILL for a job that must end while it still has its lock.
inline constexpr std::chrono::seconds usual_grace{10};

/// Returns the time until KILL, at most one day. The result is empty if the user gave no time.
std::optional<holdfast::duration> grace_of(const on_loss&);

/// Parses `SIGNAL[:GRACE]`, for example `INT`, `SIGTERM:5s` or `15:0`. Throws `usage_error` with
/// the name of the option and the allowed values in its message.
on_loss parse_on_loss(const std::string& option, std::string_view text);

/// Locks of outer `holdfast run` commands, which have started this command directly or indirectly.
/// This command must not request such a lock: it would wait for the outer command, which waits for
/// this command.
///
///     HOLDFAST_LOCK   the name of the innermost lock, unchanged
///     HOLDFAST_LOCKS  all locks on HOLDFAST_URL's server, one per line, the outermost first;
///                     in a name, `%` and the end of a line are %25 and %0A
class outer_locks {
public:
    /// Reads the locks from the environment. Ignores locks on other servers than `url`.
    static outer_locks on(const std::string& url);

    bool have(const std::string& name) const;

    /// Returns environment variables, as `NAME=value`, for a command that runs under these locks
    /// and under the lock `name`.
    std::vector<std::string> variables_with(const std::string& name) const;

    /// Adds a lock as the innermost lock.
    void add(const std::string& name);

private:
    std::vector<std::string> names_; ///< names, encoded as in the variable
};

class inheritance;

/// Options of a `holdfast run`.
struct locked_run {
    std::string url; ///< one URL, or the URLs of a quorum: see `each_url`
    std::string name;
    std::vector<std::string> with; ///< names of further locks; the run takes all locks or none
    arguments command;
    std::optional<std::chrono::duration<double>> lease;
    /// The longest lease that any client of the quorum uses.
    std::optional<std::chrono::duration<double>> longest_lease;
    bool nodes_remember;
    std::optional<std::chrono::duration<double>> hold_for; ///< shortest time to hold the lock
    std::chrono::duration<double> timeout;
    holdfast::lock_kind kind; ///< plain, spin, fair, fenced, read, write; permit for `slots`
    std::optional<std::uint32_t> slots;
    std::optional<holdfast::rate> rate; ///< if set, the run takes a start of this rate, and no lock
    /// Kind of the fencing tokens (counted or dated).
    holdfast::fencing numbers;
    /// Number of replicas that must confirm the lock. If empty, the number in the URL applies.
    std::optional<unsigned> replicas;
    on_loss loss;
    /// Signal for the command if another program asks for the lock with `holdfast ask`. If a time
    /// is set, KILL follows after this time. If the field is empty, such requests are ignored.
    std::optional<on_loss> ask;
    std::optional<std::string> metrics_textfile; ///< path of the file for the run's metrics
    int busy_status;
    bool verbose;
};

/// Returns the name of the lock for messages. If the run takes several locks, their names are
/// joined by " + ".
std::string title_of(const locked_run&);
/// Returns what the run waits for, in the form for messages: `lock 'x'`, `a slot of 'x'` or `the
/// rate of 'x'`.
std::string wanted_thing(const locked_run&, std::size_t longest);

/// Takes the lock, runs the command, and releases the lock. Returns the exit status.
int perform(const locked_run&, const inheritance&);

} // namespace cli
