// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/lease_guard.hpp"
#include "cli/run/locked_run.hpp"
#include "cli/run/running_job.hpp"
#include "cli/run/signal_inbox.hpp"
#include "cli/terminal/last_words.hpp"

#include <holdfast/lease.hpp>

#include <csignal>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <termios.h>

namespace cli {

struct job;

/// Runs the command while its lock is held. Passes signals and the terminal to the command. Stops
/// the command if the lock is lost.
class command_run {
public:
    /// Creates the object. `behind` is the shell's job, or null without a terminal. All arguments
    /// must outlive this object.
    command_run(asio::io_context&, const locked_run&, const inheritance&, signal_inbox&,
                const last_words&, const job* behind);

    /// Runs the command. Returns its exit status, or `lock_lost`. Throws `cannot_start` and
    /// `std::system_error`.
    asio::awaitable<int> under(const holdfast::lease&);

    /// Returns the keyboard signal (such as SIGINT) that has ended the command, or nothing.
    std::optional<int> interrupted_by() const noexcept { return interrupted_by_; }

    /// Returns whether the command was stopped because its lock was lost or in danger.
    bool was_stopped() const noexcept { return stopped_; }

    /// Returns whether the command was asked to end, by a signal to this process or from the
    /// keyboard.
    bool was_told_to_end() const noexcept { return heard_last_.has_value(); }

private:
    asio::awaitable<void> job_ends(running_job&, const stop_reason&, int& status);
    asio::awaitable<void> end_others(running_job&);
    asio::awaitable<void> pass_signals(running_job&);
    void pass(running_job&, int signal);
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
