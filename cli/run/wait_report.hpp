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

/// Tells people, on stderr, what a wait for a lock is for: a line that is kept up to date where
/// that is a terminal and the job is in its foreground, one that stays if they asked to hear more
/// (`-v`), and else only that it would have no end.
class wait_report {
public:
    /// `behind`: the shell's job, or null. `held_around`: by a `holdfast run` that waits for the
    /// end of this one.
    wait_report(clients&, const locked_run&, const job* behind, bool held_around);
    wait_report(const wait_report&) = delete;
    ~wait_report(); ///< removes the line

    /// Runs until it is cancelled. Why a store cannot be asked the wait itself will say. Throws
    /// `not_a_lock` or `kept_to_share` if there is something else.
    asio::awaitable<void> tell();

    /// The wait is over, and well. A token of zero is none.
    void granted(std::uint64_t fencing_token);

private:
    void show(const std::string& holder);
    void clear();
    bool may_draw() const; ///< whether the line can be written over, and the terminal is ours

    clients& homes_;
    const locked_run& wanted_;
    const std::string thing_; ///< what it waits for, as it is shown
    const job* const behind_;
    const bool held_around_;
    const bool live_; ///< a terminal on which a line can be written over
    const holdfast::time_point since_ = holdfast::boot_clock::now();
    bool drawn_ = false;
    bool told_ = false;
};

} // namespace cli
