// SPDX-License-Identifier: Apache-2.0
#include "store/memory/memory_store.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <functional>

namespace holdfast::memory {
namespace {

class release_watch final : public watch {
public:
    release_watch(std::shared_ptr<server_connection> way, lock_name name,
                  asio::any_io_executor executor, alarm& wake)
        : subscriber_{way, std::move(name), std::move(executor), [way, &wake] {
                          if (!way->loses_wake_up())
                              wake.ring();
                      }} {}

private:
    subscriber subscriber_;
};

std::vector<std::size_t> places_allowed(std::size_t count, const std::vector<std::size_t>& denied) {
    std::vector<std::size_t> allowed;
    for (std::size_t i = 0; i < count; ++i)
        if (std::find(denied.begin(), denied.end(), i) == denied.end())
            allowed.push_back(i);
    return allowed;
}

std::vector<hold> picked(const std::vector<hold>& holds, const std::vector<std::size_t>& places) {
    std::vector<hold> some;
    some.reserve(places.size());
    for (const std::size_t place : places)
        some.push_back(holds.at(place));
    return some;
}

/// Returns an attempt with this verdict. Copies the times, the clock and the confirmation from the
/// reply to the attempt.
template <typename T>
remote::attempt attempt_of(reply<T> got, verdict said) {
    remote::attempt outcome;
    outcome.said = said;
    outcome.server_now = got.server_now;
    outcome.sent_at = got.sent_at;
    outcome.received_at = got.received_at;
    outcome.clock = std::move(got.clock);
    outcome.unconfirmed = std::move(got.unconfirmed);
    return outcome;
}

} // namespace

std::optional<std::string> objection_to_name(const lock_name& name) {
    constexpr std::size_t bytes_max = limits{}.name_bytes_max;
    if (name.text.empty())
        return "the name is empty";
    if (name.text.size() > bytes_max)
        return "the name has " + std::to_string(name.text.size()) + " bytes, more than " +
               std::to_string(bytes_max);
    return std::nullopt;
}

std::optional<std::string> memory_locks::objection_to(const lock_name& name) const {
    return objection_to_name(name);
}

std::unique_ptr<place> memory_locks::line_up(ask want, alarm& wake) {
    if (server_connection_->is_by_session()) {
        want.lease_time = server_connection_->session_time();
        want.tokens = 1;
    }
    return std::make_unique<lock_place>(server_connection_, context_, orphans_, std::move(want),
                                        wake);
}

asio::awaitable<void> memory_locks::renew(hold_list asked_about, const renewal_options& how,
                                          renewal_sink& to) {
    // Copy the holds, because the caller may not exist any more when the request arrives.
    std::vector<hold> holds;
    for (const hold* const each : asked_about)
        holds.push_back(*each);
    if (holds.empty())
        co_return;
    const duration lease_time =
        server_connection_->is_by_session() ? server_connection_->session_time() : how.lease_time;
    sent_request asked{{verb::renew, holds.front().name.text, holds, how.lease_time},
                       how.elsewhere};
    if (how.lease_time > duration::zero()) // only an extension of a lease needs a confirmation
        asked.replicas = holds.front().replicas;
    const fate f = server_connection_->decide(asked);
    const std::vector<std::size_t> allowed = places_allowed(holds.size(), f.denied_holds);
    using said_of_all = std::vector<server_state::renewed>;
    std::function<said_of_all(server_state&)> execute = [allowed = picked(holds, allowed),
                                                         lease_time](server_state& server) {
        return server.renew(allowed, lease_time);
    };
    said_of_all held;
    std::string unconfirmed;
    const auto then = [&](reply<said_of_all> got) {
        held = std::move(got.said);
        unconfirmed = std::move(got.unconfirmed);
        return true;
    };
    try {
        (void)co_await server_connection_->call(f, asked, std::move(execute), how.answer_by, then);
    } catch (const boost::system::system_error& e) {
        for (std::size_t i = 0; i < holds.size(); ++i)
            to.failed(i, e);
        co_return;
    }
    for (const std::size_t denied : f.denied_holds)
        to.failed(denied, boost::system::system_error{make_error_code(errc::refused)});
    const boost::system::system_error too_few{make_error_code(store_errc::not_replicated),
                                              unconfirmed};
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        answer said;
        if (held[i].is_held)
            said = {.granted = true, .term = lease_time, .left_before = held[i].left_before};
        if (said.granted && !unconfirmed.empty())
            to.failed(allowed[i], too_few);
        else
            to.renewed(allowed[i], said);
    }
}

asio::awaitable<release_answer> memory_locks::release(hold what) {
    return release_or_keep(server_connection_, orphans_, std::move(what));
}

asio::awaitable<answer> memory_locks::transfer(hold what, owner_id to, duration lease_time) {
    ask wanted{what.name, to, what.kind};
    wanted.lease_time = lease_time;
    wanted.replicas = what.replicas;
    remote::attempts::sender send = [&](time_point deadline) {
        return transfer_by(deadline, what, wanted);
    };
    co_return co_await remote::look_once(context_, wanted, server_connection_->command_timeout(),
                                         std::move(send));
}

/// Sends a transfer of a hold as a request of the new owner. A fault function sees this request as
/// an attempt to acquire the lock (`verb::look`).
asio::awaitable<remote::attempt> memory_locks::transfer_by(time_point deadline, const hold& what,
                                                           const ask& wanted) {
    const hold& who = wanted;
    sent_request asked{{verb::look, who.name.text, {&who, 1}, wanted.lease_time}};
    asked.replicas = wanted.replicas;
    asked.deadline = server_connection_->server_clock()->no_later_than(deadline);
    std::function<verdict(server_state&)> execute =
        [what, wanted, over_there = asked.deadline](server_state& server) {
            return server.transfer(what, wanted.owner, wanted.lease_time, over_there);
        };
    return server_connection_->call(asked, std::move(execute), [](reply<verdict> got) {
        const verdict said = got.said;
        return attempt_of(std::move(got), said);
    });
}

asio::awaitable<std::optional<holding>> memory_inspector::inspect(lock_name name) {
    const sent_request asked{{verb::inspect, name.text}};
    std::function<std::optional<holding>(server_state&)> execute = [name](server_state& server) {
        return server.inspect(name);
    };
    return server_connection_->call(asked, std::move(execute), said_only<std::optional<holding>>);
}

asio::awaitable<forced> memory_inspector::force_release(lock_name name, std::string only_from) {
    return force(std::move(name), std::move(only_from), std::nullopt);
}

asio::awaitable<forced> memory_inspector::force_kind(lock_name name, lock_kind kind) {
    return force(std::move(name), {}, kind);
}

asio::awaitable<forced> memory_inspector::force(lock_name name, std::string only_from,
                                                std::optional<lock_kind> kind) {
    forced outcome;
    const ask nobody{std::move(name), {}, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return force_by(deadline, nobody.name, only_from, kind, outcome);
    };
    co_await remote::look_once(context_, nobody, server_connection_->command_timeout(),
                               std::move(send));
    co_return outcome;
}

asio::awaitable<remote::attempt>
memory_inspector::force_by(time_point deadline, const lock_name& name, const std::string& only_from,
                           std::optional<lock_kind> kind, forced& outcome) {
    const sent_request asked{{verb::force, name.text}};
    std::function<forced_verdict(server_state&)> execute =
        [name, only_from, kind,
         over_there = server_connection_->server_clock()->no_later_than(deadline)](
            server_state& server) { return server.force(name, only_from, kind, over_there); };
    return server_connection_->call(
        asked, std::move(execute), [kind, &outcome](reply<forced_verdict> got) {
            if (got.said.other)
                throw_wrong_type(got.said.other, kind ? words_for(*kind) : "a lock");
            outcome = std::move(got.said.what);
            const verdict said = got.said.late ? verdict::late : verdict::granted;
            return attempt_of(std::move(got), said);
        });
}

asio::awaitable<std::uint64_t> memory_inspector::last_token(lock_name name) {
    const sent_request asked{{verb::inspect, name.text}};
    std::function<std::uint64_t(server_state&)> execute = [name](server_state& server) {
        return server.last_token(name);
    };
    return server_connection_->call(asked, std::move(execute), said_only<std::uint64_t>);
}

asio::awaitable<std::optional<lock_state>> memory_inspector::describe(lock_name name) {
    const sent_request asked{{verb::inspect, name.text}};
    std::function<std::optional<lock_state>(server_state&)> execute = [name](server_state& server) {
        return server.describe(name);
    };
    return server_connection_->call(asked, std::move(execute),
                                    said_only<std::optional<lock_state>>);
}

asio::awaitable<lock_list> memory_inspector::list(std::string pattern, std::size_t limit) {
    const sent_request asked{{verb::inspect, pattern}};
    std::function<lock_list(server_state&)> execute = [pattern, limit](server_state& server) {
        return server.list(pattern, limit);
    };
    return server_connection_->call(asked, std::move(execute), said_only<lock_list>);
}

asio::awaitable<std::unique_ptr<watch>> memory_inspector::listen(lock_name name, alarm& wake) {
    co_return std::make_unique<release_watch>(server_connection_, std::move(name),
                                              context_.executor, wake);
}

asio::awaitable<std::vector<std::string>> memory_wishes::ask_holders(lock_name name, wish what,
                                                                     duration kept) {
    const sent_request asked{{verb::inspect, name.text}};
    using verdict_on_wish = server_state::asked_verdict;
    std::function<verdict_on_wish(server_state&)> execute =
        [name, what, kept](server_state& server) { return server.ask_holders(name, what, kept); };
    return server_connection_->call(asked, std::move(execute), [](reply<verdict_on_wish> got) {
        if (got.said.other)
            throw_wrong_type(got.said.other, "a lock");
        return std::move(got.said.owners);
    });
}

asio::awaitable<std::optional<wish>> memory_wishes::wish_for(hold held) {
    const sent_request asked{{verb::inspect, held.name.text}};
    std::function<std::optional<wish>(server_state&)> execute = [held](server_state& server) {
        return server.wish_for(held);
    };
    return server_connection_->call(asked, std::move(execute), said_only<std::optional<wish>>);
}

asio::awaitable<std::unique_ptr<watch>> memory_wishes::hear_wishes(hold held, alarm& wake) {
    co_return std::make_unique<release_watch>(server_connection_, wish_channel(held.name),
                                              context_.executor, wake);
}

asio::awaitable<std::vector<finding>> memory_store::examine(ask trial) {
    std::vector<finding> found{{severity::note, "reach",
                                "The locks are kept in this process, so other processes do not see "
                                "them.",
                                ""}};
    try {
        (void)co_await inspector_.inspect(trial.name);
    } catch (const boost::system::system_error& why) {
        found.push_back({severity::danger, "rights", why.what(), ""});
    }
    co_return found;
}

// A waiter asks for the lock, subscribes to its releases, and asks again. Then it repeats: sleep,
// and ask again.

namespace {

/// Time in ms that a waiter adds to the end of the holder's lease. A request at the exact end of
/// the lease could come too early. The waiter would then repeat it without a pause.
constexpr duration after_the_end{1};

} // namespace

lock_place::lock_place(std::shared_ptr<server_connection> way, const store_context& context,
                       std::shared_ptr<orphans> left_behind, ask want, alarm& wake)
    : server_connection_{std::move(way)}
    , context_{context}
    , orphans_{std::move(left_behind)}
    , want_{std::move(want)}
    , wake_{wake}
    , is_told_{want_.kind != lock_kind::spin}
    , attempts_{context, want_, server_connection_->command_timeout(), is_told_} {}

asio::awaitable<answer> lock_place::look() {
    if (attempts_.found_busy() && is_told_ && !subscriber_)
        listen();
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    return attempts_.look(std::move(send), remote::poll_bound_of(want_, context_.poll_bound),
                          after_the_end);
}

asio::awaitable<remote::attempt> lock_place::request(time_point deadline) {
    remote::set_terms_of_mark(want_, context_.poll_bound, round_trip_);
    const hold& who = want_;
    sent_request asked{{verb::look, who.name.text, {&who, 1}, want_.lease_time}};
    asked.replicas = want_.replicas;
    asked.deadline = server_connection_->server_clock()->no_later_than(deadline);
    std::function<verdict_on_look(server_state&)> execute =
        [want = want_, over_there = asked.deadline](server_state& server) {
            return server.look(want, over_there);
        };
    return server_connection_->call(asked, std::move(execute), [this](reply<verdict_on_look> got) {
        return attempt_from(std::move(got));
    });
}

remote::attempt lock_place::attempt_from(reply<verdict_on_look> got) {
    round_trip_ = got.received_at - got.sent_at;
    const verdict_on_look said = got.said;
    if (said.other)
        throw_wrong_type(said.other, words_for(want_.kind));
    remote::attempt outcome = attempt_of(std::move(got), said.said);
    outcome.left = said.left;
    outcome.holder_tells = said.holder_tells;
    outcome.token = said.token;
    outcome.queued = said.queued || remote::may_be_marked(want_, said.said);
    outcome.joined_now = said.joined_now;
    return outcome;
}

void lock_place::listen() {
    auto heard = [this] {
        if (!server_connection_->loses_wake_up())
            wake_.ring();
    };
    subscriber_ =
        std::make_unique<subscriber>(server_connection_, channel_of(want_), context_.executor,
                                     heard, want_.kind == lock_kind::permit ? want_.permits : 0);
}

asio::awaitable<void> lock_place::leave() {
    subscriber_.reset();
    if (!attempts_.must_leave())
        co_return;
    hold who = want_;
    (void)co_await release_or_keep(server_connection_, orphans_, std::move(who));
    attempts_.left();
}

namespace {

ask in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

void fail_if_refused(const std::string& why) {
    if (!why.empty())
        throw boost::system::system_error{make_error_code(errc::refused), why};
}

} // namespace

std::unique_ptr<place> memory_counters::line_up(counter_ask want, alarm& wake) {
    return std::make_unique<counter_place>(server_connection_, context_, std::move(want), wake);
}

asio::awaitable<counter_answer> memory_counters::change(counter_change what) {
    counter_answer outcome;
    const ask nobody{what.name, what.request, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return change_by(deadline, what, outcome);
    };
    co_await remote::look_once(context_, nobody, server_connection_->command_timeout(),
                               std::move(send));
    co_return outcome;
}

asio::awaitable<remote::attempt> memory_counters::change_by(time_point deadline,
                                                            const counter_change& what,
                                                            counter_answer& outcome) {
    sent_request asked{{verb::change, what.name.text}};
    asked.changed = &what;
    asked.replicas = what.replicas;
    std::function<change_verdict(server_state&)> execute =
        [what, memory = memory(),
         over_there = server_connection_->server_clock()->no_later_than(deadline)](
            server_state& server) { return server.change(what, over_there, memory); };
    return server_connection_->call(
        asked, std::move(execute), [&what, &outcome](reply<change_verdict> got) {
            if (got.said.other)
                throw_wrong_type(got.said.other, words_for(what.kind));
            fail_if_refused(got.said.refused);
            outcome = got.said.what;
            const verdict said = got.said.late ? verdict::late : verdict::granted;
            return attempt_of(std::move(got), said);
        });
}

asio::awaitable<counter_state> memory_counters::inspect(lock_name name, counter_kind kind) {
    const sent_request asked{{verb::inspect, name.text}};
    using found = std::pair<const char*, counter_state>;
    std::function<found(server_state&)> execute = [name, kind,
                                                   client = context_.client](server_state& server) {
        return found{server.other_kind(name, kind), server.inspect_counter(name, kind, client)};
    };
    return server_connection_->call(asked, std::move(execute), [kind](reply<found> got) {
        if (got.said.first)
            throw_wrong_type(got.said.first, words_for(kind));
        return got.said.second;
    });
}

asio::awaitable<counter_list> memory_counters::list(counter_kind kind, std::string pattern,
                                                    std::size_t limit) {
    const sent_request asked{{verb::inspect, pattern}};
    std::function<counter_list(server_state&)> execute =
        [kind, pattern, limit, client = context_.client](server_state& server) {
            return server.list_counters(kind, pattern, limit, client);
        };
    return server_connection_->call(asked, std::move(execute), said_only<counter_list>);
}

counter_place::counter_place(std::shared_ptr<server_connection> way, const store_context& context,
                             counter_ask want, alarm& wake)
    : server_connection_{std::move(way)}
    , context_{context}
    , want_{std::move(want)}
    , in_time_{in_time(want_)}
    , wake_{wake}
    , attempts_{context, in_time_, server_connection_->command_timeout(), is_told()} {}

asio::awaitable<answer> counter_place::look() {
    if (is_told() && attempts_.found_busy() && !subscriber_)
        listen();
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    const duration after_the_lease{is_told() ? 1 : 0};
    return attempts_.look(std::move(send), context_.poll_bound, after_the_lease);
}

asio::awaitable<remote::attempt> counter_place::request(time_point deadline) {
    sent_request asked{{verb::count, want_.name.text}};
    asked.counted = &want_;
    asked.replicas = want_.replicas;
    std::function<count_verdict(server_state&)> execute =
        [want = want_, memory = context_.request_memory,
         over_there = server_connection_->server_clock()->no_later_than(deadline)](
            server_state& server) { return server.count(want, over_there, memory); };
    return server_connection_->call(asked, std::move(execute), [this](reply<count_verdict> got) {
        return attempt_from(std::move(got));
    });
}

remote::attempt counter_place::attempt_from(reply<count_verdict> got) const {
    const count_verdict said = std::move(got.said);
    if (said.other)
        throw_wrong_type(said.other, words_for(want_.kind));
    fail_if_refused(said.refused);
    remote::attempt outcome = attempt_of(std::move(got), said.said);
    outcome.left = said.left;
    if (!is_told()) // free permits may appear without a notification
        outcome.left = std::min(outcome.left.value_or(duration::max()), context_.poll_bound);
    return outcome;
}

void counter_place::listen() {
    auto heard = [this] {
        if (!server_connection_->loses_wake_up())
            wake_.ring();
    };
    subscriber_ =
        std::make_unique<subscriber>(server_connection_, channel_of(want_.name, want_.kind),
                                     context_.executor, heard, want_.amount);
}

asio::awaitable<void> counter_place::leave() {
    subscriber_.reset();
    if (!must_leave())
        co_return;
    sent_request asked{{verb::release, want_.name.text}};
    asked.counted = &want_;
    using nothing = bool; // the reply contains no value
    std::function<nothing(server_state&)> execute =
        [want = want_, memory = context_.request_memory](server_state& server) {
            server.give_back(want, memory);
            return true;
        };
    (void)co_await server_connection_->call(asked, std::move(execute), said_only<nothing>);
    attempts_.left();
}

} // namespace holdfast::memory
