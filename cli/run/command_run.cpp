// SPDX-License-Identifier: Apache-2.0
#include "cli/run/command_run.hpp"

#include "cli/command_line.hpp"
#include "cli/file_text.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/server/private_server.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/multi_mutex.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

std::string proc_file(pid_t id, const char* name) {
    return "/proc/" + std::to_string(id) + "/" + name;
}

/// Returns the content of the file /proc/ID/NAME, or an empty text if the process has ended. The
/// process can end at any moment, even between the open and the read of the file.
std::string text_of(pid_t id, const char* name) {
    return content_of(proc_file(id, name)).value_or("");
}

bool has_children() {
    siginfo_t ignored{};
    return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool runs_private_server(pid_t id) {
    using namespace std::string_view_literals;
    return text_of(id, "cmdline") == "holdfast\0private-server\0"sv;
}

/// Returns whether the process runs the same program file as this process.
bool is_holdfast(pid_t id) {
    struct stat ours {};
    struct stat its {};
    return ::stat("/proc/self/exe", &ours) == 0 &&
           ::stat(proc_file(id, "exe").c_str(), &its) == 0 && ours.st_ino == its.st_ino &&
           ours.st_dev == its.st_dev;
}

bool has_signal(const std::string& status, std::string_view field, int signal) {
    const std::size_t at = status.find(field);
    if (at == std::string::npos)
        return false;
    const unsigned long long mask = std::strtoull(status.c_str() + at + field.size(), nullptr, 16);
    return (mask >> (static_cast<unsigned>(signal) - 1U) & 1U) != 0;
}

/// Returns whether the signal has an effect on the process. WINCH has an effect if the process
/// handles it. Any other signal has an effect unless the process ignores the signal.
bool heeds(pid_t id, int signal) {
    const std::string status = text_of(id, "status");
    return signal == SIGWINCH ? has_signal(status, "\nSigCgt:\t", signal)
                              : !has_signal(status, "\nSigIgn:\t", signal);
}

} // namespace

std::vector<job_processes::process> job_processes::all_on_machine() {
    std::vector<process> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
    while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name{entry->d_name};
        process one{};
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), one.id);
        if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size())
            continue;
        const std::string stat = text_of(one.id, "stat");
        // Search for `) ` from the end of the line, because the program's name may contain this
        // text, too.
        const std::size_t name_end = stat.rfind(") ");
        char state = 0;
        if (name_end == std::string::npos ||
            std::sscanf(stat.c_str() + name_end + 2,
                        "%c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                        "%llu",
                        &state, &one.parent, &one.group, &one.started) != 4)
            continue;
        if (state != 'Z' && state != 'X')
            all.push_back(one);
    }
    return all;
}

std::vector<job_processes::process> job_processes::find(bool below_other_runs) const {
    const std::vector<process> all = all_on_machine();
    std::vector<process> found;
    std::vector<pid_t> parents{::getpid()};
    while (!parents.empty()) {
        const pid_t parent = parents.back();
        parents.pop_back();
        for (const process& each : all) {
            if (each.parent != parent || strangers_.contains({each.id, each.started}) ||
                runs_private_server(each.id))
                continue;
            found.push_back(each);
            if (below_other_runs || !is_holdfast(each.id))
                parents.push_back(each.id);
        }
    }
    return found;
}

job_processes::job_processes() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!has_children())
        return;
    for (const process& each : all_on_machine())
        if (each.parent == ::getpid())
            strangers_.emplace(each.id, each.started);
}

void job_processes::reap(pid_t command) const noexcept {
    siginfo_t ended{};
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
           ended.si_pid != command) {
        ::waitpid(ended.si_pid, nullptr, WNOHANG);
        ended = {};
    }
}

bool job_processes::any_left(pid_t command) const {
    if (!has_children())
        return false;
    const std::vector<process> left = find(true);
    return std::ranges::any_of(left, [&](const process& each) { return each.id != command; });
}

void job_processes::signal(int number, pid_t group) const {
    for (const process& each : find(false))
        if (each.group != group)
            ::kill(each.id, number);
}

void job_processes::kill() const {
    for (const process& each : find(true))
        ::kill(each.id, SIGKILL);
}

void job_processes::tell_orphans(int heard, pid_t group) {
    for (const process& each : find(false)) {
        if (each.parent != ::getpid() || !told_.emplace(each.id, each.started).second)
            continue;
        const bool has_heard = each.group == group && heeds(each.id, heard);
        if (!has_heard)
            ::kill(each.id, SIGTERM);
    }
}

namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

/// Time to wait for the end of killed processes.
constexpr std::chrono::seconds kill_timeout{1};

/// Time between two checks of the job's processes. Most changes are noticed earlier by SIGCHLD.
constexpr std::chrono::milliseconds look_at_others_every{500};
constexpr std::chrono::milliseconds look_at_killed_every{5};

} // namespace

running_job::running_job(asio::io_context& loop, const inheritance& inherited,
                         const std::vector<std::string>& command, const child_settings& around)
    : command_{loop, inherited, command, around}
    , group_{command_.id()}
    , changed_{loop} {}

void running_job::pass(int signal) {
    if (command_is_over_)
        others_.signal(signal, 0);
    else
        command_.signal(signal);
}

void running_job::stop(int signal) {
    command_.signal(signal);
    others_.signal(signal, command_is_over_ ? 0 : group_);
    command_.signal(SIGCONT); // a stopped process would not handle the signal
    others_.signal(SIGCONT, command_is_over_ ? 0 : group_);
}

void running_job::kill() {
    killed_at_ = boot_clock::now();
    command_.signal(SIGKILL);
    others_.kill();
    changed_.cancel();
}

void running_job::child_changed() {
    others_.reap(command_is_over_ ? -1 : group_);
    changed_.cancel();
}

int running_job::take_status() {
    command_is_over_ = true;
    return command_.status();
}

asio::awaitable<void> running_job::child_changes(std::chrono::milliseconds at_most) {
    changed_.expires_after(at_most);
    holdfast::error_code early;
    co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, early));
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error{asio::error::operation_aborted};
}

asio::awaitable<void> running_job::others_ended(std::optional<int> heard) {
    others_.reap(-1);
    while (others_left()) {
        if (killed_at_ && boot_clock::now() - *killed_at_ > kill_timeout)
            co_return;
        if (killed_at_)
            others_.kill(); // the job may have started another process since the last kill
        else if (heard)
            others_.tell_orphans(*heard, group_);
        co_await child_changes(killed_at_ ? look_at_killed_every : look_at_others_every);
        others_.reap(-1);
    }
}

namespace {

using holdfast::duration;

std::string seconds(duration length) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>{length}.count());
    return text;
}

/// Waits until the remaining lease is not longer than `reserve`. A renewal in the meantime makes
/// the wait longer.
asio::awaitable<void> reserve_is_reached(const holdfast::lease& held, duration reserve) {
    while (held.remaining() > reserve)
        co_await until_first(pause(held.remaining() - reserve), stop_requested(held.lost()));
}

asio::awaitable<void> grace_in_danger(const holdfast::lease& held, duration left,
                                      std::optional<duration> wanted) {
    const duration reserve = left / 3;
    if (wanted)
        co_await until_first(pause(*wanted), reserve_is_reached(held, reserve));
    else
        co_await reserve_is_reached(held, reserve);
}

std::string reason_of(const std::string& thing, duration left, const last_words& heard) {
    if (left <= duration::zero())
        return thing + " was lost";
    return thing +
           (heard.max_hold_reached() ? " was held for as long as max_hold allows and ends in "
                                     : " cannot be renewed and ends in ") +
           seconds(left);
}

} // namespace

asio::awaitable<void> guard(const holdfast::lease& held, const std::string& thing, running_job& job,
                            const on_loss& how, const last_words& heard, std::stop_token orphaned,
                            stop_reason& reason) {
    const duration whole = held.remaining();
    co_await until_first(stop_requested(held.in_danger()), stop_requested(held.lost()),
                         stop_requested(orphaned));

    const bool is_orphan = orphaned.stop_requested();
    const duration left = held.remaining();
    reason = is_orphan ? "'holdfast run' was killed" : reason_of(thing, left, heard);
    say(*reason + (how.signal == SIGKILL ? ": killing the command" : ": stopping the command"));
    if (how.signal == SIGKILL) {
        job.kill();
        co_await stop_requested({});
    }
    job.stop(how.signal);

    // The renewal was refused, so another client may already hold the lock. The command still gets
    // a short time to clean up.
    const std::optional<duration> wanted = grace_of(how);
    if (is_orphan)
        co_await grace_in_danger(held, left, wanted.value_or(usual_grace));
    else if (left > duration::zero())
        co_await grace_in_danger(held, left, wanted);
    else
        co_await pause(std::min(wanted.value_or(whole / 10), whole / 2));
    say("the command did not stop: killing it");
    job.kill();
    co_await stop_requested({});
}

namespace {

/// Longest time between two looks at the clock of the lease. This clock continues while the machine
/// is suspended, but Asio's timers stop.
constexpr std::chrono::seconds look_at_clock_every{10};

asio::awaitable<void> clock_reaches(holdfast::time_point moment) {
    while (boot_clock::now() < moment)
        co_await pause(
            std::min<holdfast::duration>(moment - boot_clock::now() + 1ms, look_at_clock_every));
}

asio::awaitable<void> told_to_end(signal_inbox& signals, const job* behind) {
    for (;;) {
        co_await signals.arrival();
        while (const std::optional<int> next = signals.take()) {
            if (ends_wait(*next, behind != nullptr))
                co_return;
            if (*next == SIGCHLD)
                while (::waitpid(-1, nullptr, WNOHANG) > 0) {
                }
            else if (*next == SIGTSTP && behind != nullptr)
                behind->stop();
        }
    }
}

} // namespace

asio::awaitable<void> hold_on(const holdfast::lease& held, const std::string& thing,
                              holdfast::time_point until, signal_inbox& signals, const job* behind,
                              std::stop_token asked) {
    co_await until_first(clock_reaches(until), told_to_end(signals, behind),
                         stop_requested(held.lost()), stop_requested(asked));
    if (held.lost().stop_requested())
        say(thing + " was lost " +
            in_words(std::max(until - boot_clock::now(), holdfast::duration{})) +
            " before the end of --hold-for");
}

command_run::command_run(asio::io_context& loop, const locked_run& wanted,
                         const inheritance& inherited, signal_inbox& signals,
                         const last_words& heard, const job* behind)
    : loop_{loop}
    , wanted_{wanted}
    , inherited_{inherited}
    , signals_{signals}
    , heard_{heard}
    , behind_{behind}
    , thing_{wanted_thing(wanted, 200)}
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

/// Returns the environment variables for the command. HOLDFAST_URL contains the password, because
/// the command must be able to reach the same server. Other users cannot read the command's
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
    // Remove the token of an outer lock, because the command would mistake it for the token of this
    // lock.
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
    child_settings around{.variables = variables(held)};
    if (reads_terminal_ && behind_->is_in_foreground()) {
        remember_terminal();
        around.foreground_of = &behind_->device;
    }
    running_job started{loop_, inherited_, wanted_.command, around};
    stop_reason stopped;
    int status = internal_error;
    co_await until_first(
        job_ends(started, stopped, status), pass_signals(started), pass_wish(held, started),
        guard(held, thing_, started, wanted_.loss, heard_, front_is_gone_.get_token(), stopped));

    stopped_ = stopped.has_value();
    if (had_terminal_ && (stopped || interrupted_by_))
        mend_terminal(stopped);
    co_return stopped ? lock_lost : status;
}

/// Waits for the end of the command. After a signal or the loss of the lock, also waits for the end
/// of all processes that the command has started, because they would work without the lock.
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
        // Wait without a limit, because the coroutine guard() kills the processes that do not end.
        co_await started.others_ended(std::nullopt);
    else if (heard_last_ && !wanted_.rate)
        co_await end_others(started);
}

asio::awaitable<void> command_run::end_others(running_job& started) {
    if (!started.others_left())
        co_return;
    const holdfast::duration grace = grace_of(wanted_.loss).value_or(usual_grace);
    if (wanted_.verbose || form_of(STDERR_FILENO).live)
        say("the command has ended; " + thing_ +
            " is held until the programs that it has started have ended, too, for " +
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
/// stopped process could not renew the lock.
void command_run::pass(running_job& started, int signal) {
    if (signal == SIGCHLD) {
        started.child_changed();
        heed_stop(started);
        return;
    }
    if (behind_ != nullptr && behind_->front_is_gone() && !front_is_gone_.stop_requested()) {
        front_is_gone_.request_stop();
        return; // the coroutine guard() stops the job
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

asio::awaitable<void> command_run::pass_wish(const holdfast::lease& held, running_job& started) {
    if (!wanted_.ask)
        co_await stop_requested({});
    co_await stop_requested(held.asked());
    const holdfast::wish wish = held.received_wish().value_or(holdfast::wish{});
    say(printable(wish.from, 100) + " asks for " + thing_ +
        (wish.reason.empty() ? "" : ": " + printable(wish.reason, 500)));
    const int signal = wanted_.ask->signal;
    if (signal != SIGKILL) {
        started.pass(signal);
        sigaddset(&passed_, signal);
        if (asks_to_end(signal, behind_ != nullptr)) {
            started.pass(SIGCONT); // a stopped process would not handle the signal
            heard_last_ = signal;
        }
        const std::optional<duration> grace = grace_of(*wanted_.ask);
        if (!grace)
            co_await stop_requested({});
        co_await pause(*grace);
        say("the command did not stop: killing it");
    }
    sigaddset(&passed_, SIGKILL);
    started.kill();
    co_await stop_requested({});
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

/// Gives the terminal to the command, unless the shell has given it to another job.
void command_run::give_terminal(const running_job& started) {
    if (!behind_->is_in_foreground())
        return;
    remember_terminal();
    behind_->device.give_to(started.id());
}

/// Takes the terminal back from the command. Returns false if the command did not have the
/// terminal.
bool command_run::take_terminal_back(const running_job& started) const {
    if (behind_ == nullptr || behind_->device.foreground() != started.id())
        return false;
    behind_->device.give_to(behind_->group);
    return true;
}

/// Restores the terminal's settings, because a killed full-screen program leaves the terminal
/// without echo and line editing. Prints the message about the lost lock again, because such a
/// program may have overwritten the message.
void command_run::mend_terminal(const stop_reason& stopped) const {
    if (settings_)
        behind_->device.restore(*settings_);
    if (stopped && ::isatty(STDERR_FILENO) == 1)
        say(*stopped + ": the command was stopped");
}

} // namespace cli
