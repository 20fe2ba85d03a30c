// SPDX-License-Identifier: Apache-2.0
#include "cli/run/locks.hpp"

#include "cli/count/counters.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/run/job.hpp"
#include "cli/server/private_server.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <unistd.h>

namespace cli {

using holdfast::lock_kind;

holdfast::duration length_of(std::chrono::duration<double> wanted) {
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 366};
    return std::chrono::ceil<holdfast::duration>(std::min(wanted, longest));
}

template <typename Lock, typename... Arguments>
Lock& asked_lock::keep(Arguments&&... how) {
    auto made = std::make_shared<Lock>(std::forward<Arguments>(how)...);
    kept_.push_back(made);
    return *made;
}

holdfast::basic_mutex& asked_lock::one(const std::string& name) {
    holdfast::client& home = homes_.front();
    const std::optional<unsigned> replicas = wanted_.replicas;
    switch (wanted_.kind) {
    case lock_kind::fenced:
        return keep<holdfast::fenced_mutex>(
            home, name,
            holdfast::fenced_options{
                .lease = lease_, .numbers = wanted_.numbers, .required_replicas = replicas});
    case lock_kind::fair:
        return keep<holdfast::fair_mutex>(
            home, name, holdfast::fair_options{.lease = lease_, .required_replicas = replicas});
    case lock_kind::spin:
        return keep<holdfast::spin_mutex>(
            home, name, holdfast::spin_options{.lease = lease_, .required_replicas = replicas});
    case lock_kind::read:
        return keep<holdfast::shared_mutex>(
                   home, name,
                   holdfast::shared_options{.lease = lease_, .required_replicas = replicas})
            .shared();
    case lock_kind::write:
        return keep<holdfast::shared_mutex>(
            home, name, holdfast::shared_options{.lease = lease_, .required_replicas = replicas});
    default:
        return keep<holdfast::mutex>(
            home, name, holdfast::mutex_options{.lease = lease_, .required_replicas = replicas});
    }
}

asked_lock::asked_lock(const locked_run& wanted, clients& homes)
    : wanted_{wanted}
    , homes_{homes} {
    if (wanted.lease)
        lease_.emplace(*wanted.lease);
    if (homes.size() > 1) {
        const holdfast::quorum_mutex::nodes all{homes.begin(), homes.end()};
        holdfast::quorum_options how{.lease = lease_,
                                     .nodes_remember = wanted.nodes_remember,
                                     .required_replicas = wanted.replicas};
        if (wanted.longest_lease)
            how.longest_lease.emplace(*wanted.longest_lease);
        whole_ = &keep<holdfast::quorum_mutex>(all, wanted.name, how);
        return;
    }
    whole_ = &one(wanted.name);
    if (wanted.with.empty())
        return;
    holdfast::multi_mutex::members all{*whole_};
    for (const std::string& each : wanted.with)
        all.emplace_back(one(each));
    whole_ = &keep<holdfast::multi_mutex>(all);
}

namespace {

using holdfast::counter_kind;
using holdfast::counter_state;

/// Maximum number of attempts to set the counter and read it. Another client may delete the counter
/// between the two requests.
constexpr int settings_max = 3;

std::string told_of(const holdfast::rate& how) {
    return rate_in_words(how, "start");
}

asio::awaitable<counter_state> state_of(holdfast::client& home, std::string name,
                                        counter_kind kind) {
    holdfast::lock_name which{std::move(name)};
    co_return co_await abandonable(home.async_inspect(std::move(which), kind, asio::use_awaitable));
}

asio::awaitable<std::optional<holdfast::lock_state>> state_of(holdfast::client& home,
                                                              std::string name) {
    co_return co_await abandonable(
        home.async_inspect(std::move(name), holdfast::lock_details::stored, asio::use_awaitable));
}

std::int64_t slots_in(const counter_state& found) {
    return found.value + found.taken;
}

/// Returns whether the server has lost the set of slot holders, for example by an eviction. In that
/// case no slot is held, but no slot is free either, and no holder will ever give a slot back.
bool has_lost_its_holders(const counter_state& found) {
    return found.taken == 0 && found.value <= 0;
}

/// Records on the private server that `holdfast run` has created this counter and can create it
/// again. Do not call this function for the counter of another program, because that program may
/// rely on its counter.
void remember_counter(const locked_run& wanted) {
    if (is_private_server(wanted.url))
        remember_counter_of_run(wanted.name);
}

/// Returns the result of `asking`. If the server refuses the request, repeats it as the blocking
/// call `ask_again(client)`: only the exception of a blocking call contains the server's reason.
/// The repetition needs another client, because a client cannot block the thread of its own
/// executor.
template <typename T, typename Blocking>
asio::awaitable<T> with_reason(asio::awaitable<T> asking, const locked_run& wanted,
                               Blocking ask_again) {
    try {
        co_return co_await abandonable(std::move(asking));
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::errc::refused)
            throw;
    }
    holdfast::options how = reaching(wanted.url);
    how.unavailable_timeout = holdfast::duration::zero(); // signals are not handled meanwhile
    holdfast::client another{std::move(how)};
    co_return ask_again(another);
}

counter_kind kind_of_counter(const locked_run& wanted) {
    return wanted.slots ? counter_kind::permits : counter_kind::rate;
}

/// Returns the state of the counter for --slots or --rate.
asio::awaitable<counter_state> counter_of(holdfast::client& home, const locked_run& wanted) {
    const counter_kind kind = kind_of_counter(wanted);
    const auto ask_again = [&wanted, kind](holdfast::client& another) {
        return another.inspect({wanted.name}, kind);
    };
    asio::awaitable<counter_state> asking = state_of(home, wanted.name, kind);
    co_return co_await with_reason(std::move(asking), wanted, ask_again);
}

/// Returns how much of the run's timeout (-w) is left.
std::chrono::duration<double> left_of(const locked_run& wanted, holdfast::time_point began) {
    const std::chrono::duration<double> left =
        wanted.timeout - std::chrono::duration<double>{holdfast::boot_clock::now() - began};
    return std::max(left, std::chrono::duration<double>::zero());
}

asio::awaitable<void> look_at_counter(holdfast::client& home, const locked_run& wanted,
                                      bool& has_answered) {
    (void)co_await counter_of(home, wanted);
    has_answered = true;
}

/// With -n or -w, repeats a query for the counter until the server replies, and throws if the
/// timeout ends before. Call it before the counter is set: a client repeats a change for longer
/// than -w, and its close waits for the change.
asio::awaitable<void> until_server_answers(holdfast::client& home, const locked_run& wanted,
                                           holdfast::time_point began) {
    if (wanted.timeout == std::chrono::duration<double>::max())
        co_return;
    constexpr std::chrono::duration<double> rest = std::chrono::milliseconds{100};
    std::exception_ptr away;
    bool has_answered = false;
    while (!has_answered) {
        const std::chrono::duration<double> left = left_of(wanted, began);
        if (away && wanted.timeout == left.zero())
            std::rethrow_exception(away);
        if (away && left == left.zero())
            throw boost::system::system_error{make_error_code(holdfast::errc::unreachable),
                                              "no answer within " +
                                                  in_words(length_of(wanted.timeout))};
        if (away) // the first query may take its whole time
            co_await pause(length_of(std::min(rest, left)));
        try {
            asio::awaitable<void> look = look_at_counter(home, wanted, has_answered);
            if (away)
                co_await until_first(std::move(look), pause(length_of(left_of(wanted, began))));
            else
                co_await std::move(look);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() != holdfast::errc::unreachable &&
                failure.code() != holdfast::errc::outcome_unknown)
                throw;
            away = std::current_exception();
        }
    }
}

asio::awaitable<void> settle_slots(holdfast::client& home, holdfast::leased_semaphore& slots,
                                   const locked_run& wanted) {
    const std::int64_t number = *wanted.slots;
    const auto set_new = [&wanted, number](holdfast::client& another) {
        return holdfast::leased_semaphore{another, wanted.name}.try_set_permits(number);
    };
    const auto set = [&wanted, number](holdfast::client& another) {
        holdfast::leased_semaphore{another, wanted.name}.set_permits(number);
        return true;
    };
    for (int i = 0; i < settings_max; ++i) {
        const bool is_new = co_await with_reason(
            slots.async_try_set_permits(number, asio::use_awaitable), wanted, set_new);
        if (is_new)
            co_return remember_counter(wanted);
        const counter_state found = co_await counter_of(home, wanted);
        if (found.exists && has_lost_its_holders(found)) {
            asio::awaitable<bool> setting =
                true_after(slots.async_set_permits(number, asio::use_awaitable));
            (void)co_await with_reason(std::move(setting), wanted, set);
            co_return;
        }
        if (found.exists && slots_in(found) != number)
            throw another_number{
                "has " + how_many(slots_in(found), "slot") + ", but --slots is " +
                std::to_string(number) +
                ". To delete the old number when no command uses it: holdfast unlock --force "
                "--type permits '" +
                printable(wanted.name) + "'"};
        if (found.exists)
            co_return;
    }
    throw another_number{"is set and deleted repeatedly by other programs"};
}

asio::awaitable<void> settle_rate(holdfast::client& home, holdfast::rate_limiter& starts,
                                  const locked_run& wanted) {
    const auto set_new = [&wanted](holdfast::client& another) {
        return holdfast::rate_limiter{another, wanted.name}.try_set_rate(*wanted.rate);
    };
    for (int i = 0; i < settings_max; ++i) {
        const bool is_new = co_await with_reason(
            starts.async_try_set_rate(*wanted.rate, asio::use_awaitable), wanted, set_new);
        if (is_new)
            co_return remember_counter(wanted);
        const counter_state found = co_await counter_of(home, wanted);
        if (found.exists && found.of != *wanted.rate)
            throw another_number{
                "has a rate of " + told_of(found.of) + ", but --rate is " + told_of(*wanted.rate) +
                ". To delete the old number when no command uses it: holdfast unlock --force "
                "--type rate '" +
                printable(wanted.name) + "'"};
        if (found.exists)
            co_return;
    }
    throw another_number{"is set and deleted repeatedly by other programs"};
}

} // namespace

asio::awaitable<std::optional<holdfast::lease>> take_slot(holdfast::client& home,
                                                          const locked_run& wanted) {
    const holdfast::time_point began = holdfast::boot_clock::now();
    holdfast::leased_options how{.required_replicas = wanted.replicas};
    if (wanted.lease)
        how.lease.emplace(*wanted.lease);
    holdfast::leased_semaphore slots{home, {wanted.name}, how};
    co_await until_server_answers(home, wanted, began);
    co_await settle_slots(home, slots, wanted);
    co_return co_await slots.async_try_acquire_for(left_of(wanted, began), 1, asio::use_awaitable);
}

asio::awaitable<bool> draw_start(holdfast::client& home, const locked_run& wanted) {
    const holdfast::time_point began = holdfast::boot_clock::now();
    holdfast::rate_limiter starts{home, {wanted.name}, {.required_replicas = wanted.replicas}};
    co_await until_server_answers(home, wanted, began);
    co_await settle_rate(home, starts, wanted);
    co_return co_await starts.async_try_acquire_for(left_of(wanted, began), 1, asio::use_awaitable);
}

asio::awaitable<std::string> how_it_stands(holdfast::client& home, const locked_run& wanted) {
    const counter_state found = co_await state_of(home, wanted.name, kind_of_counter(wanted));
    if (!found.exists)
        co_return "";
    if (wanted.slots)
        co_return std::to_string(found.taken) + " of " + how_many(slots_in(found), "slot") +
            " are taken";
    co_return std::to_string(found.value) + " of " + told_of(found.of) + " are left";
}

holdfast::rate parse_rate(const std::string& text) {
    const std::string::size_type slash = text.find('/');
    holdfast::rate how;
    const char* const end = text.data() + std::min(slash, text.size());
    const auto parsed = std::from_chars(text.data(), end, how.permits);
    if (slash == std::string::npos || parsed.ec != std::errc{} || parsed.ptr != end ||
        how.permits < 1 || how.permits > holdfast::counted_max)
        throw usage_error{"--rate: '" + printable(text) +
                          "' is not a rate; give a whole number of starts from 1 to " +
                          std::to_string(holdfast::counted_max) +
                          ", a slash and a time, as in 10/1m"};
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 365 * 10};
    const std::chrono::duration<double> per = parse_time("--rate", text.substr(slash + 1));
    if (per < std::chrono::milliseconds{1} || per > longest)
        throw usage_error{"--rate: '" + printable(text) +
                          "': the time after the slash must be from 1ms to ten years"};
    how.per = std::chrono::round<holdfast::duration>(per);
    return how;
}

namespace {

/// Returns whether more than a number is known about the owner. A holdfast client without client
/// information has only a number.
bool is_known(const holdfast::lock_owner& owner) {
    return owner.client || !owner.is_holdfast;
}

/// Returns false if the waiter's entry in the queue has expired. Returns true if the server does
/// not report how long the entry lasts.
bool still_waits(const holdfast::lock_waiter& waits) {
    return !waits.remaining || *waits.remaining > holdfast::duration::zero();
}

bool is_counted(const locked_run& wanted) {
    return wanted.slots || wanted.rate;
}

std::string told_of(const holdfast::lock_state& lock, wording form) {
    if (!lock.is_held) {
        const auto next = std::ranges::find_if(lock.waiters, still_waits);
        return next == lock.waiters.end() ? "free"
                                          : "free, and it is the turn of " + waiter_in_words(*next);
    }
    if (lock.owners.empty() || std::ranges::any_of(lock.owners, is_known))
        return "held by " +
               (form == wording::brief ? owners_in_short(lock) : owners_in_words(lock));
    if (ends_with_session(lock))
        return "held until its holder's session ends";
    return lock.remaining ? "held on a lease with " + in_words(*lock.remaining) + " left"
                          : "held without end";
}

} // namespace

asio::awaitable<std::string> who_holds(holdfast::client& home, std::string name, wording form) {
    const std::optional<holdfast::lock_state> found = co_await state_of(home, std::move(name));
    co_return found ? printable(told_of(*found, form), 500) : "";
}

asio::awaitable<void> refuse_if_another(holdfast::client& home, std::string name,
                                        holdfast::lock_kind wanted) {
    std::optional<holdfast::lock_state> found;
    try {
        found = co_await state_of(home, std::move(name));
    } catch (const boost::system::system_error& failure) {
        if (failure.code() == asio::error::operation_aborted)
            throw;
    }
    if (found && found->kind == holdfast::key_kind::other)
        throw not_a_lock{found->type};
    if (found && found->kind == holdfast::key_kind::token_lock)
        throw not_a_lock{found->type + " (perhaps of a token_mutex)"};
    if (found && found->kind == holdfast::key_kind::read_write_lock && !can_be_shared(wanted))
        throw kept_to_share{};
}

asio::awaitable<void> refuse_if_any_is_another(clients& homes, const locked_run& wanted) {
    // A quorum or a counter needs no check: the server itself refuses a key of the wrong type.
    if (homes.size() > 1 || is_counted(wanted))
        co_return;
    co_await refuse_if_another(homes.front(), wanted.name, wanted.kind);
    for (const std::string& each : wanted.with)
        co_await refuse_if_another(homes.front(), each, wanted.kind);
}

asio::awaitable<std::string> who_holds_one(clients& homes, const locked_run& wanted, wording form) {
    if (is_counted(wanted))
        co_return co_await how_it_stands(homes.front(), wanted);
    std::exception_ptr failed;
    for (holdfast::client& home : homes) {
        try {
            std::string told = co_await who_holds(home, wanted.name, form);
            for (const std::string& each : wanted.with) {
                if (!told.empty())
                    break;
                told = co_await who_holds(home, each, form);
                if (!told.empty())
                    told.insert(0, "'" + printable(each, 40) + "' is ");
            }
            co_return told;
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == asio::error::operation_aborted)
                throw;
            failed = std::current_exception();
        }
    }
    std::rethrow_exception(failed);
}

namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

} // namespace

wait_report::wait_report(clients& homes, const locked_run& wanted, const job* behind,
                         bool held_around)
    : homes_{homes}
    , wanted_{wanted}
    , thing_{wanted_thing(wanted, 40)}
    , behind_{behind}
    , held_around_{held_around}
    , live_{form_of(STDERR_FILENO).live} {}

bool wait_report::may_draw() const {
    return live_ && (behind_ == nullptr || behind_->is_in_foreground());
}

asio::awaitable<void> wait_report::tell() {
    // Most waits end soon and need no message.
    co_await pause(wanted_.verbose ? 100ms : 700ms);
    if (may_draw())
        show({}); // the server may take long to say who holds it
    co_await refuse_if_any_is_another(homes_, wanted_);
    if (held_around_) {
        clear();
        say(thing_ + " is held by a 'holdfast run' around this command (HOLDFAST_LOCKS): "
                     "this may wait until that one has ended");
    }
    if (!wanted_.verbose && !live_)
        co_await stop_requested({});
    for (;;) {
        while (!wanted_.verbose && !may_draw())
            co_await pause(1s); // until the shell brings this job to the foreground
        std::string holder;
        try {
            const wording form = may_draw() ? wording::brief : wording::full;
            holder = co_await who_holds_one(homes_, wanted_, form);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == asio::error::operation_aborted)
                throw;
            if (failure.code() == holdfast::errc::unreachable)
                holder = "the server cannot be reached";
        }
        show(holder);
        co_await pause(1s);
    }
}

void wait_report::show(const std::string& holder) {
    if (!may_draw()) {
        if (wanted_.verbose && !told_)
            say("waiting for " + thing_ + (holder.empty() ? "" : ", " + holder));
        told_ = true;
    } else {
        draw_line("holdfast: waiting for " + thing_ + ", " + in_words(boot_clock::now() - since_) +
                  (holder.empty() ? "" : "; " + holder));
        drawn_ = true;
    }
}

void wait_report::clear() {
    if (drawn_ && may_draw())
        draw_line({});
    drawn_ = false;
}

wait_report::~wait_report() {
    clear();
}

void wait_report::granted(std::uint64_t fencing_token) {
    clear();
    if (wanted_.verbose)
        say("has " + thing_ + " after " + in_words(boot_clock::now() - since_) +
            (fencing_token != 0 ? ", with the token " + std::to_string(fencing_token) : ""));
}

} // namespace cli
