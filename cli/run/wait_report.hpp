// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/asked_lock.hpp"
#include "cli/run/locked_run.hpp"
#include "cli/run/until_first.hpp"

#include <holdfast/client.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <string>

namespace cli {

struct job;

/// Messages on stderr about a wait for a lock. If stderr is a terminal and the job is in the
/// foreground, one line is updated in place. Elsewhere, with `-v`, it prints a line that stays.
/// Without `-v`, it prints a message only if the wait would never end.
class wait_report {
public:
    /// Creates the report. `behind` is the shell's job, or null. `held_around` is true if an outer
    /// `holdfast run` holds the lock and waits for this process to end.
    wait_report(clients&, const locked_run&, const job* behind, bool held_around);
    wait_report(const wait_report&) = delete;
    ~wait_report(); ///< removes the updated line

    /// Shows the wait until it is cancelled. Ignores errors of the store, because the wait itself
    /// reports them. Throws `not_a_lock` or `kept_to_share` if the key is not a lock of the wanted
    /// kind.
    asio::awaitable<void> tell();

    /// Ends the report, because the lock was granted. A token of zero means that the lock has no
    /// token.
    void granted(std::uint64_t fencing_token);

private:
    void show(const std::string& holder);
    void clear();
    bool may_draw() const; ///< whether the line can be overwritten, and this job has the terminal

    clients& homes_;
    const locked_run& wanted_;
    const std::string thing_; ///< description of what the run waits for, for messages
    const job* const behind_;
    const bool held_around_;
    const bool live_; ///< whether stderr is a terminal on which a line can be overwritten
    const holdfast::time_point since_ = holdfast::boot_clock::now();
    bool drawn_ = false;
    bool told_ = false;
};

} // namespace cli
