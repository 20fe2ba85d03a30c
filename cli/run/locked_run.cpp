// SPDX-License-Identifier: Apache-2.0
// One thread with one event loop runs the client, the signals and the command.
//
//   wait for the lock ──granted──▶ the command runs ──ended──▶ --hold-for ──▶ release ──▶ status
//      │ busy │ signal                │ lock lost
//      ▼      ▼                       ▼
//     -E    128+n                  TERM, KILL ──▶ 75
#include "cli/run/locked_run.hpp"

#include "cli/look/lock_text.hpp"
#include "cli/run/child_process.hpp"
#include "cli/run/command_run.hpp"
#include "cli/run/coroutines.hpp"
#include "cli/run/job.hpp"
#include "cli/run/locks.hpp"
#include "cli/run/metrics_file.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/redirect_error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include <unistd.h>

namespace cli {
namespace {

struct named_signal {
    std::string_view name;
    int number;
};

/// Signals that a user can choose for --on-loss: they ask or force a program to end. STOP, for
/// example, would only hide the loss from the command.
constexpr std::array<named_signal, 8> ending_signals{{
    {"TERM", SIGTERM},
    {"INT", SIGINT},
    {"HUP", SIGHUP},
    {"QUIT", SIGQUIT},
    {"USR1", SIGUSR1},
    {"USR2", SIGUSR2},
    {"ABRT", SIGABRT},
    {"KILL", SIGKILL},
}};

int parse_signal(const std::string& option, std::string_view text) {
    const std::string_view name = text.starts_with("SIG") ? text.substr(3) : text;
    const auto found = std::ranges::find_if(ending_signals, [&](const named_signal& each) {
        return each.name == name || std::to_string(each.number) == text;
    });
    if (found != ending_signals.end())
        return found->number;
    std::string allowed;
    for (const named_signal& each : ending_signals)
        allowed.append(allowed.empty() ? "" : ", ").append(each.name);
    throw usage_error{option + ": '" + printable(text) +
                      "' is not a signal that can be used here; give one of " + allowed +
                      " (or SIGTERM and so on, or its number)"};
}

} // namespace

std::optional<holdfast::duration> grace_of(const on_loss& how) {
    if (!how.grace)
        return std::nullopt;
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24};
    return std::chrono::ceil<holdfast::duration>(std::min(*how.grace, longest));
}

on_loss parse_on_loss(const std::string& option, std::string_view text) {
    const std::size_t colon = text.find(':');
    on_loss wanted{.signal = parse_signal(option, text.substr(0, colon))};
    if (colon != text.npos)
        wanted.grace = parse_time(option, text.substr(colon + 1));
    return wanted;
}

namespace {

/// Maximum size of the list of outer locks, in bytes. A longer list keeps the innermost locks only.
/// Linux allows 128 KiB for an environment string, and a lock's name can have 64 KiB.
constexpr std::size_t list_bytes_max = 32'768;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string in_list(std::string_view name) {
    std::string written;
    for (const char each : name) {
        if (each == '%')
            written += "%25";
        else if (each == '\n')
            written += "%0A";
        else
            written += each;
    }
    return written;
}

} // namespace

outer_locks outer_locks::on(const std::string& url) {
    outer_locks found;
    const std::string innermost = variable("HOLDFAST_LOCK");
    if (innermost.empty() || variable("HOLDFAST_URL") != url)
        return found;
    std::string list = variable("HOLDFAST_LOCKS");
    if (list.empty())
        list = in_list(innermost);
    for (std::size_t start = 0; start < list.size();) {
        const std::size_t end = std::min(list.find('\n', start), list.size());
        found.names_.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return found;
}

bool outer_locks::have(const std::string& name) const {
    return std::ranges::find(names_, in_list(name)) != names_.end();
}

void outer_locks::add(const std::string& name) {
    names_.push_back(in_list(name));
}

std::vector<std::string> outer_locks::variables_with(const std::string& name) const {
    std::string list = in_list(name);
    for (auto each = names_.rbegin(); each != names_.rend(); ++each) {
        if (list.size() + each->size() >= list_bytes_max)
            break;
        list.insert(0, *each + "\n");
    }
    if (list.size() > list_bytes_max)
        list.clear();
    return {"HOLDFAST_LOCK=" + name, "HOLDFAST_LOCKS=" + list};
}

namespace {

using holdfast::error_code;

/// Returns the label of the client, for `holdfast ls`: the command's name without its directory.
std::string label_of(const std::string& command) {
    return command.substr(command.rfind('/') + 1);
}

/// Time that a run waits for the server's first reply even if -w is shorter. Equals the default of
/// `connect_timeout`.
constexpr std::chrono::seconds first_answer_timeout{2};
/// Extra time after the end of -w for a reply that is already on its way.
constexpr std::chrono::milliseconds reply_margin{500};

/// Observer that passes each event on to two observers.
class both_observers final : public holdfast::observer {
public:
    both_observers(std::shared_ptr<holdfast::observer> one,
                   std::shared_ptr<holdfast::observer> other)
        : one_{std::move(one)}
        , other_{std::move(other)} {}

    void notify(const holdfast::event& e) noexcept override {
        one_->notify(e);
        other_->notify(e);
    }

private:
    const std::shared_ptr<holdfast::observer> one_, other_;
};

class performance {
public:
    performance(const locked_run& wanted, const inheritance& inherited, const job* behind)
        : wanted_{wanted}
        , signals_{loop_, inherited}
        , behind_{behind}
        , command_{loop_, wanted, inherited, signals_, *words_, behind}
        , thing_{wanted_thing(wanted, 200)} {
        if (wanted.metrics_textfile)
            metrics_.emplace(*wanted.metrics_textfile);
        if (metrics_ && metrics_->observer())
            observer_ = std::make_shared<both_observers>(words_, metrics_->observer());
        for (const std::string& url : each_url(wanted.url))
            homes_.emplace_back(loop_.get_executor(), reaching_as_ours(url));
    }

    int run() {
        int status = internal_error;
        asio::co_spawn(loop_, lock_run_close(), [&status](std::exception_ptr thrown, int answer) {
            if (thrown)
                std::rethrow_exception(thrown);
            status = answer;
        });
        loop_.run();
        if (metrics_)
            metrics_->write(prefix_of(wanted_.url) + wanted_.name, status);
        return status;
    }

    /// Returns the keyboard signal that ended the run, or nothing.
    std::optional<int> interrupted_by() const noexcept {
        return interrupted_by_ ? interrupted_by_ : command_.interrupted_by();
    }

private:
    holdfast::options reaching_as_ours(const std::string& url) {
        holdfast::options how = reaching(url);
        if (wanted_.lease && keeps_sessions(url))
            how.lease_time = length_of(*wanted_.lease);
        how.label = label_of(wanted_.command.front());
        how.close_timeout = std::chrono::seconds{1}; // the release before it has its own timeout
        how.observer = observer_;
        return how;
    }

    asio::awaitable<int> lock_run_close() {
        int status = internal_error;
        try {
            status = co_await lock_and_run();
        } catch (const boost::system::system_error& failure) {
            status = words_->report(failure, wanted_.url, refusal());
            if (status == no_lock && can_be_shared(wanted_.kind))
                say("'" + printable(wanted_.name) +
                    "' exists on the server, but not as a lock for -s and -x; choose a NAME that "
                    "is used only with -s and -x");
        } catch (const kept_to_share&) {
            say("lock '" + printable(wanted_.name) + "' is a read-write lock on " +
                server_in_words(wanted_.url) + ": it can be taken only with -s or -x");
            status = no_lock;
        } catch (const not_a_lock& found) {
            say("'" + printable(wanted_.name) + "' is not a lock but a " + printable(found.type) +
                ", on " + server_in_words(wanted_.url));
            status = no_lock;
        } catch (const another_number& found) {
            say("'" + printable(wanted_.name) + "' on " + server_in_words(wanted_.url) + " " +
                found.told);
            status = no_lock;
        }
        co_await close_all();
        co_return status;
    }

    /// Closes all clients at the same time, because each close may wait for a server that does not
    /// reply.
    asio::awaitable<void> close_all() {
        using timer = asio::steady_timer;
        timer all_closed{loop_, timer::time_point::max()};
        std::size_t open = homes_.size();
        for (holdfast::client& home : homes_)
            home.async_close([&](error_code) {
                if (--open == 0)
                    all_closed.expires_at(timer::time_point::min());
            });
        error_code rung;
        co_await all_closed.async_wait(asio::redirect_error(asio::use_awaitable, rung));
    }

    asio::awaitable<int> lock_and_run() {
        std::optional<holdfast::lease> held;
        std::optional<int> signal;
        co_await until_first(acquire(held), ending_signal(signal));
        if (!signal)
            signal = take_ending_signal(); // a signal may have arrived together with the lock
        interrupted_by_ = signal;
        if (signal)
            signals_.let_through(); // a second signal ends this process at once
        else if (held)
            co_return co_await run_and_release(std::move(*held));
        else
            co_return co_await answer_busy();
        co_return signalled + *signal;
    }

    asio::awaitable<int> answer_busy() {
        const bool waited = wanted_.timeout > std::chrono::duration<double>::zero();
        const holdfast::duration limit = waited ? reply_margin : first_answer_timeout;
        co_await until_first(refuse_if_any_is_another(homes_, wanted_), pause(limit));
        if (wanted_.busy_status != success)
            say(thing_ + busy_words() + server_in_words(wanted_.url) +
                (is_held_around() ? ": a 'holdfast run' around this command holds it" : ""));
        co_return wanted_.busy_status;
    }

    const char* refusal() const {
        return wanted_.rate    ? "did not allow the start"
               : wanted_.slots ? "did not give the slot"
                               : "did not give the lock";
    }

    const char* busy_words() const {
        return wanted_.rate ? " allows no more starts now, on " : " is busy on ";
    }

    bool is_held_around() const {
        const outer_locks around = outer_locks::on(wanted_.url);
        return around.have(wanted_.name) ||
               std::ranges::any_of(wanted_.with,
                                   [&](const std::string& each) { return around.have(each); });
    }

    asio::awaitable<void> acquire(std::optional<holdfast::lease>& held) {
        if (wanted_.verbose)
            say("asking " + server_in_words(wanted_.url) + " for " + thing_);
        wait_report report{homes_, wanted_, behind_, is_held_around()};
        co_await until_first(take(held), report.tell(), fail_without_answer());
        granted_at_ = holdfast::boot_clock::now();
        if (held)
            report.granted(held->fencing_token());
    }

    /// Throws `unreachable` a short time after the end of -w. If the server replies, the wait for
    /// the lock ends before that. If the server does not reply, the client itself would wait
    /// longer: until the timeout of its request. Never throws with -n or on a quorum.
    asio::awaitable<void> fail_without_answer() {
        const holdfast::duration timeout = length_of(wanted_.timeout);
        if (timeout == holdfast::duration::zero() || homes_.size() > 1)
            co_await stop_requested({});
        const holdfast::duration limit =
            std::max<holdfast::duration>(timeout, first_answer_timeout);
        co_await pause(limit);
        // Wait in two pauses: after Ctrl-Z and fg, the first pause may be over at once, and the
        // server still needs time for a reply.
        co_await pause(reply_margin);
        throw boost::system::system_error{make_error_code(holdfast::errc::unreachable),
                                          "no answer within " + in_words(limit + reply_margin)};
    }

    /// Takes the lock, a slot (--slots), or a start (--rate). A start is not held and cannot be
    /// lost, so its lease is an empty `lease` object.
    asio::awaitable<void> take(std::optional<holdfast::lease>& held) {
        if (wanted_.rate) {
            const bool may_start = co_await draw_start(homes_.front(), wanted_);
            if (may_start)
                held.emplace();
        } else if (wanted_.slots) {
            held = co_await take_slot(homes_.front(), wanted_);
        } else {
            asked_lock lock{wanted_, homes_};
            held = co_await lock.get().async_try_lock_for(wanted_.timeout, asio::use_awaitable);
        }
    }

    /// Returns the next pending signal that ends the wait, or nothing. At Ctrl-Z, stops this
    /// process, because no command runs yet.
    std::optional<int> take_ending_signal() {
        while (const std::optional<int> next = signals_.take()) {
            if (*next == SIGTSTP)
                ::raise(SIGSTOP);
            else if (ends_wait(*next, behind_ != nullptr))
                return next;
        }
        return std::nullopt;
    }

    asio::awaitable<void> ending_signal(std::optional<int>& signal) {
        while (!signal) {
            co_await signals_.arrival();
            signal = take_ending_signal();
        }
    }

    asio::awaitable<int> run_and_release(holdfast::lease held) {
        int status = internal_error;
        try {
            status = co_await command_.under(held);
            if (!command_.was_stopped() && !command_.was_told_to_end())
                co_await hold_longer(held);
        } catch (const cannot_start& failure) {
            say("cannot run '" + printable(wanted_.command.front()) +
                "': " + std::strerror(failure.error));
            status = failure.error == ENOENT ? not_found : cannot_execute;
            // The system could not create a process or a descriptor. The lock is released below.
        } catch (const std::system_error& failure) {
            say(failure.what());
            status = system_error;
        }
        if (wanted_.rate)
            co_return status;
        // A loss during --hold-for has been reported already.
        const bool lost_later = hold_ended_ && held.lost().stop_requested();
        error_code outcome;
        co_await held.async_unlock(asio::redirect_error(asio::use_awaitable, outcome));
        if (status == lock_lost || lost_later || !outcome)
            co_return status;
        if (outcome == holdfast::errc::lease_lost) {
            say(thing_ +
                " was lost before the command ended (its status: " + std::to_string(status) + ")");
            co_return lock_lost;
        }
        say(thing_ + " could not be released (" + outcome.message() + "): it ends with its lease");
        co_return status;
    }

    asio::awaitable<void> hold_longer(holdfast::lease& held) {
        const std::stop_token asked = wanted_.ask ? held.asked() : std::stop_token{};
        if (!wanted_.hold_for || asked.stop_requested())
            co_return;
        const holdfast::time_point until = granted_at_ + length_of(*wanted_.hold_for);
        const holdfast::duration left = until - holdfast::boot_clock::now();
        if (left <= holdfast::duration::zero())
            co_return;
        // Ask the server now whether the lock is still held. A later reply could not tell whether
        // the command still ran when the lock was lost.
        error_code ignored;
        const holdfast::lease_time no_longer{std::chrono::milliseconds{1}};
        co_await held.async_extend(no_longer, asio::redirect_error(asio::use_awaitable, ignored));
        if (held.lost().stop_requested())
            co_return;
        if (wanted_.verbose || form_of(STDERR_FILENO).live)
            say("the command has ended; " + thing_ + " is held for " + in_words(left) +
                " more (--hold-for)");
        co_await hold_on(held, thing_, until, signals_, behind_, asked);
        hold_ended_ = true;
    }

    const locked_run& wanted_;
    std::shared_ptr<last_words> words_ = std::make_shared<last_words>(wanted_.verbose);
    std::optional<metrics_file> metrics_;
    std::shared_ptr<holdfast::observer> observer_ = words_;
    asio::io_context loop_{1};
    signal_inbox signals_;
    const job* const behind_;
    command_run command_;
    const std::string thing_; ///< description of the lock in messages
    clients homes_;
    holdfast::time_point granted_at_{};
    /// True if --hold-for has ended, because its time was over, a signal came, or the lock was
    /// lost.
    bool hold_ended_ = false;
    std::optional<int> interrupted_by_;
};

int perform_here(const locked_run& wanted, const inheritance& inherited, const job* behind) {
    std::optional<int> interrupted;
    int status = internal_error;
    {
        performance all{wanted, inherited, behind};
        status = all.run();
        interrupted = all.interrupted_by();
    }
    if (behind != nullptr && interrupted)
        end_as_interrupted(*interrupted);
    return status;
}

} // namespace

std::string title_of(const locked_run& wanted) {
    std::string title = wanted.name;
    for (const std::string& each : wanted.with)
        title += " + " + each;
    return title;
}

std::string wanted_thing(const locked_run& wanted, std::size_t longest) {
    const char* const what = wanted.rate    ? "the rate of '"
                             : wanted.slots ? "a slot of '"
                                            : "lock '";
    return what + printable(title_of(wanted), longest) + "'";
}

int perform(const locked_run& wanted, const inheritance& inherited) {
    return work_behind_job(inherited, [&](const job* behind) {
        try {
            return perform_here(wanted, inherited, behind);
        } catch (const boost::system::system_error& failure) { // the URL is wrong
            return last_words{}.report(failure, wanted.url);
        }
    });
}

} // namespace cli
