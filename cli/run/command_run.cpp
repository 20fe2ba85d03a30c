// SPDX-License-Identifier: Apache-2.0
#include "cli/run/command_run.hpp"

#include "cli/exit_status.hpp"
#include "cli/run/descendants.hpp"
#include "cli/run/job.hpp"
#include "cli/run/lease_guard.hpp"
#include "cli/run/outer_locks.hpp"
#include "cli/run/until_first.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/multi_mutex.hpp>

#include <csignal>

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
    , reads_terminal_{behind != nullptr && controlling_terminal::is_stdin()} {}

namespace {

std::string lines_of(const std::vector<std::uint64_t>& numbers) {
    std::string all;
    for (const std::uint64_t each : numbers)
        all += (all.empty() ? "" : "\n") + std::to_string(each);
    return all;
}

} // namespace

/// The whole URL, a password too: the command shall reach the same server, and its environment is
/// no more to be read by others than ours.
std::vector<std::string> command_run::variables(const holdfast::lease& held) const {
    if (wanted_.rate) // nothing is held but what is held around us
        return {"HOLDFAST_URL=" + wanted_.url};
    outer_locks around = outer_locks::on(wanted_.url);
    for (const std::string& each : wanted_.with)
        around.add(each);
    std::vector<std::string> all = around.variables_with(wanted_.name);
    all.push_back("HOLDFAST_URL=" + wanted_.url);
    // That of a lock around this one would be taken for this one's.
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
    adopt_descendants();
    child_process command{loop_, inherited_, wanted_.command, around};
    stop_reason stopped;
    co_await until_first(command.ended(), pass_signals(command),
                         guard(held, command, wanted_.loss, heard_, stopped));

    stopped_ = stopped.has_value();
    if (stopped)
        command.signal(SIGKILL);
    const bool had_terminal = take_terminal_back(command);
    const int status = command.status();
    if (had_terminal && status > signalled)
        interrupted_by_ = status - signalled;
    if (stopped)
        kill_descendants(); // what the command leaves behind would work without the lock
    if (had_terminal && (stopped || interrupted_by_))
        mend_terminal(stopped);
    co_return stopped ? lock_lost : status;
}

asio::awaitable<void> command_run::pass_signals(child_process& command) {
    for (;;) {
        co_await signals_.arrival();
        while (const std::optional<int> next = signals_.take())
            pass(command, *next);
    }
}

/// We never stop ourselves while the command runs: nobody would renew the lock.
void command_run::pass(child_process& command, int signal) {
    if (signal == SIGCHLD) {
        bury_adopted(command.id());
        heed_stop(command);
        return;
    }
    if (signal == SIGCONT && reads_terminal_)
        give_terminal(command);
    command.signal(signal);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
        command.signal(SIGCONT); // one that is stopped would not hear
        told_to_end_ = true;
    }
}

void command_run::heed_stop(child_process& command) {
    const std::optional<int> by = command.stopped_by();
    if (!by || behind_ == nullptr)
        return;
    const bool asks_for_terminal = *by == SIGTTIN || *by == SIGTTOU;
    if (asks_for_terminal && behind_->is_in_foreground()) {
        give_terminal(command);
        command.signal(SIGCONT);
        return;
    }
    take_terminal_back(command);
    behind_->stop();
}

void command_run::remember_terminal() {
    if (!settings_)
        settings_ = behind_->device.settings();
}

/// From us: what the shell has given to another job is not ours to give.
void command_run::give_terminal(const child_process& command) {
    if (!behind_->is_in_foreground())
        return;
    remember_terminal();
    behind_->device.give_to(command.id());
}

/// False: the command did not have it.
bool command_run::take_terminal_back(const child_process& command) const {
    if (behind_ == nullptr || behind_->device.foreground() != command.id())
        return false;
    behind_->device.give_to(behind_->group);
    return true;
}

/// A full-screen program that is killed leaves the terminal without echo and without lines, and may
/// have painted over what we said.
void command_run::mend_terminal(const stop_reason& stopped) const {
    if (settings_)
        behind_->device.restore(*settings_);
    if (stopped && ::isatty(STDERR_FILENO) == 1)
        say(*stopped + ": the command was stopped");
}

} // namespace cli
