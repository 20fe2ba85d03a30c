// SPDX-License-Identifier: Apache-2.0
#include "cli/run/command_run.hpp"

#include "cli/exit_status.hpp"
#include "cli/look/lock_words.hpp"
#include "cli/run/job.hpp"
#include "cli/run/job_signals.hpp"
#include "cli/run/lease_guard.hpp"
#include "cli/run/outer_locks.hpp"
#include "cli/run/until_first.hpp"
#include "cli/server/private_server.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/multi_mutex.hpp>

#include <algorithm>
#include <csignal>
#include <iterator>

#include <unistd.h>

namespace cli {

command_run::command_run(asio::io_context& loop, const locked_run& wanted,
                         const inheritance& inherited, signal_inbox& signals,
                         const last_words& heard, const job* behind)
    : loop_{loop}
    , wanted_{wanted}
    , inherited_{inherited}
    , signals_{signals}
    , heard_{heard}
    , behind_{behind}
    , reads_terminal_{behind != nullptr && controlling_terminal::is_stdin()} {
    sigemptyset(&passed_);
}

namespace {

std::string lines_of(const std::vector<std::uint64_t>& numbers) {
    std::string all;
    for (const std::uint64_t each : numbers)
        all += (all.empty() ? "" : "\n") + std::to_string(each);
    return all;
}

} // namespace

/// Returns the environment variables for the command. HOLDFAST_URL is the whole URL with its
/// password, because the command must reach the same server. Other users cannot read the command's
/// environment.
std::vector<std::string> command_run::variables(const holdfast::lease& held) const {
    std::vector<std::string> all = variables_of_private_server(wanted_.url);
    all.push_back("HOLDFAST_URL=" + wanted_.url);
    if (wanted_.rate) // a rate holds no lock, so only the outer locks are held
        return all;
    outer_locks around = outer_locks::on(wanted_.url);
    for (const std::string& each : wanted_.with)
        around.add(each);
    std::ranges::move(around.variables_with(wanted_.name), std::back_inserter(all));
    // Remove the token of an outer lock. The command would take it for the token of this lock.
    const std::string token = "HOLDFAST_TOKEN", tokens = "HOLDFAST_TOKENS";
    if (wanted_.kind != holdfast::lock_kind::fenced) {
        all.insert(all.end(), {token, tokens});
        return all;
    }
    const std::vector<std::uint64_t> of_each = holdfast::multi_mutex::fencing_tokens(held);
    all.push_back(token + "=" +
                  std::to_string(of_each.empty() ? held.fencing_token() : of_each.front()));
    all.push_back(of_each.empty() ? tokens : tokens + "=" + lines_of(of_each));
    return all;
}

asio::awaitable<int> command_run::under(const holdfast::lease& held) {
    surroundings around{.variables = variables(held)};
    if (reads_terminal_ && behind_->is_in_foreground()) {
        remember_terminal();
        around.foreground_of = &behind_->device;
    }
    running_job started{loop_, inherited_, wanted_.command, around};
    stop_reason stopped;
    int status = internal_error;
    co_await until_first(
        job_ends(started, stopped, status), pass_signals(started),
        guard(held, started, wanted_.loss, heard_, front_is_gone_.get_token(), stopped));

    stopped_ = stopped.has_value();
    if (had_terminal_ && (stopped || interrupted_by_))
        mend_terminal(stopped);
    co_return stopped ? lock_lost : status;
}

/// Waits for the end of the job. If the command ends by itself, the job has ended, even if other
/// processes are left. If the command was told to end or has lost its lock, the other processes
/// must end first. Otherwise they would work without the lock.
asio::awaitable<void> command_run::job_ends(running_job& started, const stop_reason& stopped,
                                            int& status) {
    co_await started.command_ended();
    had_terminal_ = take_terminal_back(started);
    status = started.take_status();
    if (had_terminal_ && status > signalled)
        interrupted_by_ = status - signalled;
    if (interrupted_by_)
        heard_last_ = interrupted_by_;
    else if (status > signalled && sigismember(&passed_, status - signalled) == 1)
        heard_last_ = status - signalled;

    if (stopped)
        // The guard kills the processes that do not end.
        co_await started.others_ended(std::nullopt);
    else if (heard_last_ && !wanted_.rate)
        co_await end_others(started);
}

asio::awaitable<void> command_run::end_others(running_job& started) {
    if (!started.others_left())
        co_return;
    const holdfast::duration grace = grace_of(wanted_.loss).value_or(usual_grace);
    if (wanted_.verbose || form_of(STDERR_FILENO).live)
        say("the command has ended; the lock is held until the programs that it has started have "
            "ended, too, for " +
            in_words(grace) + " at most");
    co_await until_first(started.others_ended(heard_last_), pause(grace));
    if (!started.others_left())
        co_return;
    say("what the command has started did not stop: killing it");
    started.kill();
    co_await started.others_ended(std::nullopt);
}

asio::awaitable<void> command_run::pass_signals(running_job& started) {
    for (;;) {
        co_await signals_.arrival();
        while (const std::optional<int> next = signals_.take())
            pass(started, *next);
    }
}

/// Passes a signal on to the job. This process never stops itself while the command runs, because a
/// stopped process cannot renew the lock.
void command_run::pass(running_job& started, int signal) {
    if (signal == SIGCHLD) {
        started.child_changed();
        heed_stop(started);
        return;
    }
    if (behind_ != nullptr && behind_->front_is_gone() && !front_is_gone_.stop_requested()) {
        front_is_gone_.request_stop();
        return; // the guard stops the job
    }
    if (signal == SIGCONT && reads_terminal_)
        give_terminal(started);
    started.pass(signal);
    sigaddset(&passed_, signal);
    if (asks_to_end(signal, behind_ != nullptr)) {
        started.pass(SIGCONT); // a stopped process would not handle the signal
        heard_last_ = signal;
    }
}

void command_run::heed_stop(running_job& started) {
    const std::optional<int> by = started.stopped_by();
    if (!by || behind_ == nullptr)
        return;
    const bool asks_for_terminal = *by == SIGTTIN || *by == SIGTTOU;
    if (asks_for_terminal && behind_->is_in_foreground()) {
        give_terminal(started);
        started.pass(SIGCONT);
        return;
    }
    take_terminal_back(started);
    behind_->stop();
}

void command_run::remember_terminal() {
    if (!settings_)
        settings_ = behind_->device.settings();
}

/// Gives the terminal to the command if the shell's job is in the foreground. If the shell has
/// given the terminal to another job, nothing is changed.
void command_run::give_terminal(const running_job& started) {
    if (!behind_->is_in_foreground())
        return;
    remember_terminal();
    behind_->device.give_to(started.id());
}

/// Takes the terminal back. Returns false if the command did not have the terminal.
bool command_run::take_terminal_back(const running_job& started) const {
    if (behind_ == nullptr || behind_->device.foreground() != started.id())
        return false;
    behind_->device.give_to(behind_->group);
    return true;
}

/// Restores the terminal's settings. A full-screen program that is killed leaves the terminal
/// without echo and line editing. It may also have overwritten the message about the lost lock, so
/// that message is printed again.
void command_run::mend_terminal(const stop_reason& stopped) const {
    if (settings_)
        behind_->device.restore(*settings_);
    if (stopped && ::isatty(STDERR_FILENO) == 1)
        say(*stopped + ": the command was stopped");
}

} // namespace cli
