// SPDX-License-Identifier: Apache-2.0
#include "store/redis/counter_requests.hpp"

#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <memory>

namespace holdfast::redis {

/// Request that waits in the queue for a free slot. The destructor removes the request from the
/// queue.
class request_slots::place_in_line {
public:
    place_in_line(request_slots& of, std::string name)
        : of_{of}
        , name_{std::move(name)}
        , wake_{of.time_.make_alarm()} {
        book& all = of_.names_[name_];
        me_ = all.waiting.insert(all.waiting.end(), waiter{wake_.get()});
    }
    place_in_line(const place_in_line&) = delete;
    ~place_in_line() {
        book& all = of_.names_[name_];
        all.waiting.erase(me_);
        if (!all.is_full())
            all.call_next(); // a slot is free, and this request does not use it
        of_.forget_if_unused(name_);
    }

    /// Waits until this request has a slot, or until its deadline (of request_slots::take()) has
    /// passed.
    asio::awaitable<void> wait(time_point deadline, duration progress_timeout) {
        while (!has_slot() && of_.time_.now() < deadline) {
            me_->called = false;
            co_await wake_->wait_until(deadline);
            const time_point last_end = of_.names_.at(name_).last_end;
            if (progress_timeout > duration::zero() && last_end != time_point::min())
                deadline = std::max(deadline, last_end + progress_timeout);
        }
    }
    bool has_slot() const { return me_->called && !of_.names_.at(name_).is_full(); }

private:
    request_slots& of_;
    const std::string name_;
    const std::unique_ptr<alarm> wake_;
    std::list<waiter>::iterator me_;
};

void request_slots::book::call_next() {
    const auto next = std::find_if(waiting.begin(), waiting.end(),
                                   [](const waiter& each) { return !each.called; });
    if (next == waiting.end())
        return;
    next->called = true;
    next->wake->ring();
}

asio::awaitable<request_slot> request_slots::take(lock_name name, std::uint64_t request,
                                                  time_point deadline, duration progress_timeout) {
    {
        book& all = names_[name.text];
        if (const auto known = all.requests.find(request); known != all.requests.end())
            co_return known->second;
        if (!all.is_full() && all.waiting.empty())
            co_return assign(all, request);
    }
    place_in_line here{*this, name.text};
    co_await here.wait(deadline, progress_timeout);
    if (!here.has_slot())
        throw boost::system::system_error{
            make_error_code(errc::overloaded),
            "this client already has " + std::to_string(of_one_name_max) +
                " unanswered requests that change this counter, and none of them ended in time"};
    co_return assign(names_[name.text], request);
}

request_slot request_slots::assign(book& all, std::uint64_t request) {
    std::int64_t lowest = 0;
    for (const std::int64_t taken : all.slots) {
        if (taken != lowest)
            break;
        ++lowest;
    }
    all.slots.insert(lowest);
    const request_slot where{lowest, ++last_number_};
    all.requests.emplace(request, where);
    return where;
}

void request_slots::over(const lock_name& name, std::uint64_t request) noexcept {
    const auto found = names_.find(name.text);
    if (found == names_.end())
        return;
    book& all = found->second;
    if (const auto known = all.requests.find(request); known != all.requests.end()) {
        all.slots.erase(known->second.slot);
        all.requests.erase(known);
        all.last_end = time_.now();
        all.call_next();
    }
    forget_if_unused(found->first);
}

void request_slots::forget_if_unused(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end() && found->second.requests.empty() && found->second.waiting.empty())
        names_.erase(found);
}

std::size_t request_slots::count_taken(const lock_name& name) const {
    const auto found = names_.find(name.text);
    return found == names_.end() ? 0 : found->second.requests.size();
}

namespace {

attempt attempt_of_counter(const reply& answer, std::int64_t said, std::int64_t server_now) {
    attempt outcome;
    outcome.said = static_cast<verdict>(said);
    outcome.server_now = std::chrono::microseconds{server_now};
    came_by(answer, outcome);
    return outcome;
}

attempt taken_in(const reply& answer) {
    const auto [said, now] = integers<2>(answer);
    (void)integer_up_to(2, answer.items[0]);
    return attempt_of_counter(answer, said, now);
}

attempt latch_in(const reply& answer) {
    const auto [open, left] = integers<2>(answer);
    (void)integer_up_to(1, answer.items[0]);
    attempt outcome = attempt_of_counter(answer, open, 0);
    if (open == 0 && left >= 0)
        outcome.left = duration{left};
    return outcome;
}

enum class change_verdict { not_done = 0, done = 1, late = 2, beyond = 3 };

} // namespace

changed changed_in(const reply& answer) {
    const auto [said, now, value, receivers] = integers<4>(answer);
    const auto outcome = static_cast<change_verdict>(integer_up_to(3, answer.items[0]));
    const bool late = outcome == change_verdict::late;
    changed all;
    all.seen = attempt_of_counter(
        answer, static_cast<std::int64_t>(late ? verdict::late : verdict::granted), now);
    all.what.done = outcome == change_verdict::done;
    all.what.beyond = outcome == change_verdict::beyond;
    all.what.value = value;
    all.receivers = receivers;
    return all;
}

namespace {

counter_state state_in(const reply& answer) {
    const auto [there, value, listeners] = integers<3>(answer);
    counter_state found{.exists = integer_up_to(1, answer.items[0]) == 1, .value = value};
    if (listeners >= 0)
        found.listeners = static_cast<std::size_t>(listeners);
    return found;
}

} // namespace

std::string_view word_of(counter_verb verb) {
    switch (verb) {
    case counter_verb::add:
        return "add";
    case counter_verb::add_if_there:
        return "add_if_there";
    case counter_verb::take_back:
        return "take_back";
    case counter_verb::drain:
        return "drain";
    case counter_verb::set_new:
        return "set_new";
    case counter_verb::count_down:
        return "count_down";
    case counter_verb::erase:
        return "erase";
    case counter_verb::set:
        return "set";
    case counter_verb::give_back:
        return "give_back";
    case counter_verb::set_lease:
        return "set_lease";
    }
    return {}; // not reached
}

channel_name channel_of(const lock_name& name, counter_kind kind) {
    return kind == counter_kind::latch ? latch_channel(name) : semaphore_channel(name);
}

asio::awaitable<attempt> take_permits(node& server, const counter_ask& want, remembered as,
                                      server_deadline deadline) {
    const std::string requests = requests_key(want.name, want.request);
    const std::string_view keys[] = {want.name.text, requests};
    const argument arguments[] = {want.amount, as.where.slot, as.where.number, deadline,
                                  as.memory.count()};
    const reply answer = co_await server.call(scripts::take_semaphore, keys, arguments,
                                              confirmed_by(want.replicas, as.memory));
    co_return checked(server, answer, taken_in);
}

asio::awaitable<released> revoke_permits(node& server, const counter_ask& want, remembered as) {
    const std::string requests = requests_key(want.name, want.request);
    const std::string channel = semaphore_channel(want.name).text;
    const std::string_view keys[] = {want.name.text, requests};
    const publishing way = server.telling_commands();
    const argument arguments[] = {want.amount, as.where.slot, as.where.number, as.memory.count(),
                                  channel,     way.command,   way.other};
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::revoke_semaphore, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<attempt> look_at_latch(node& server, const counter_ask& want) {
    const std::string_view keys[] = {want.name.text};
    const reply answer = co_await server.call(scripts::look_latch, keys, {});
    co_return checked(server, answer, latch_in);
}

asio::awaitable<changed> change_counter(node& server, const counter_change& what, remembered as,
                                        server_deadline deadline) {
    const std::string requests = requests_key(what.name, what.request);
    const std::string channel = channel_of(what.name, what.kind).text;
    const std::string_view verb = word_of(what.verb);
    const std::string_view keys[] = {what.name.text, requests};
    if (what.kind == counter_kind::latch) {
        const publishing way = server.telling_commands();
        const argument arguments[] = {verb,     what.amount,       as.where.slot, as.where.number,
                                      deadline, as.memory.count(), channel,       way.command,
                                      way.other};
        const reply answer =
            co_await server.call(scripts::change_latch, keys, telling_by(way, arguments),
                                 confirmed_by(what.replicas, as.memory));
        co_return checked(server, answer, changed_in);
    }
    const publishing way = server.telling_commands();
    const argument arguments[] = {verb,          what.amount,     what.most, what.kept.count(),
                                  as.where.slot, as.where.number, deadline,  as.memory.count(),
                                  channel,       way.command,     way.other};
    const reply answer =
        co_await server.call(scripts::change_semaphore, keys, telling_by(way, arguments),
                             confirmed_by(what.replicas, as.memory));
    co_return checked(server, answer, changed_in);
}

asio::awaitable<counter_state> inspect_counter(node& server, const lock_name& name,
                                               counter_kind kind) {
    const std::string channel = channel_of(name, kind).text;
    const std::string_view keys[] = {name.text};
    const argument arguments[] = {channel, std::string_view{words_for(kind)}};
    const reply answer = co_await server.call(scripts::inspect_counter, keys, arguments);
    co_return checked(server, answer, state_in);
}

namespace {

attempt permits_attempt_in(const reply& answer) {
    return attempt_in<3>(answer);
}

std::int64_t first_number(const hold& held) {
    return static_cast<std::int64_t>(held.owner.number);
}

counter_state permits_in(const reply& answer) {
    const auto [there, left, taken, listeners] = integers<4>(answer);
    counter_state found{
        .exists = integer_up_to(1, answer.items[0]) == 1, .value = left, .taken = taken};
    if (listeners >= 0)
        found.listeners = static_cast<std::size_t>(listeners);
    return found;
}

} // namespace

asio::awaitable<attempt> lease_permits(node& server, const ask& want, server_deadline deadline) {
    const std::string held = permits_key(want.name);
    const std::string prefix = permit_prefix(want.owner, server.redisson());
    const std::string channel = semaphore_channel(want.name).text;
    const std::string_view keys[] = {want.name.text, held};
    const publishing way = server.telling_commands();
    const argument arguments[] = {want.lease_time.count(),
                                  first_number(want),
                                  static_cast<std::int64_t>(want.permits),
                                  prefix,
                                  deadline,
                                  channel,
                                  way.command,
                                  way.other};
    const reply answer =
        co_await server.call(scripts::take_permits, keys, telling_by(way, arguments),
                             confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, permits_attempt_in);
}

asio::awaitable<released> return_permits(node& server, const hold& held) {
    const std::string leased = permits_key(held.name);
    const std::string prefix = permit_prefix(held.owner, server.redisson());
    const std::string channel = semaphore_channel(held.name).text;
    const std::string_view keys[] = {held.name.text, leased};
    const publishing way = server.telling_commands();
    const argument arguments[] = {
        first_number(held), static_cast<std::int64_t>(held.permits), prefix, channel, way.command,
        way.other};
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_permits, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_permits(node& server, std::optional<shard> at, hold_list holds,
                                             const renewal_options& how) {
    const std::string prefix = permit_prefix(holds.front()->owner, server.redisson());
    std::vector<std::string> leased, numbers; // `keys` and `arguments` refer to these strings
    leased.reserve(holds.size());
    numbers.reserve(holds.size());
    std::vector<std::string_view> keys;
    std::vector<argument> arguments{how.lease_time.count(), prefix};
    for (const hold* const each : holds) {
        leased.push_back(permits_key(each->name));
        numbers.push_back(std::to_string(each->owner.number) + ' ' + std::to_string(each->permits));
        keys.emplace_back(leased.back());
        arguments.emplace_back(std::string_view{numbers.back()});
    }
    const call_options options = options_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_permits, keys, arguments, options);
    const auto read = [&](const reply& all) { return held_and_left_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

asio::awaitable<changed> change_permits(node& server, const counter_change& what, remembered as,
                                        server_deadline deadline) {
    const std::string held = permits_key(what.name);
    const std::string requests = requests_key(what.name, what.request);
    const std::string channel = semaphore_channel(what.name).text;
    const std::string permit = stored_permit(what.permit, server.redisson());
    const bool is_length = what.verb == counter_verb::set_lease;
    const std::string_view verb = word_of(what.verb);
    const std::string_view keys[] = {what.name.text, held, requests};
    const publishing way = server.telling_commands();
    const argument arguments[] = {verb,
                                  is_length ? what.kept.count() : what.amount,
                                  permit,
                                  as.where.slot,
                                  as.where.number,
                                  deadline,
                                  as.memory.count(),
                                  channel,
                                  way.command,
                                  way.other};
    const reply answer =
        co_await server.call(scripts::change_permits, keys, telling_by(way, arguments),
                             confirmed_by(what.replicas, as.memory));
    co_return checked(server, answer, changed_in);
}

asio::awaitable<counter_state> inspect_permits(node& server, const lock_name& name) {
    const std::string held = permits_key(name);
    const std::string channel = semaphore_channel(name).text;
    const std::string_view keys[] = {name.text, held};
    const argument arguments[] = {channel};
    const reply answer = co_await server.call(scripts::inspect_permits, keys, arguments);
    co_return checked(server, answer, permits_in);
}

namespace {

/// Number of bytes of the client's UUID at the start of a nonce. These bytes are random, except for
/// the few bits that mark a holdfast client.
constexpr std::size_t client_bytes = 10;

/// Appends the bytes of a number, lowest byte first. This is the order that Redisson uses.
void append_number(std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i)
        to += static_cast<char>(number >> (8 * i) & 0xff);
}

/// Returns a 64-bit number that identifies the request. The requests of one client have consecutive
/// numbers. Each client begins at a random number, so two clients hardly ever use the same number.
std::uint64_t shortened(const owner_id& request) {
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < 8; ++i)
        start = start << 8 | request.client[i];
    return start + request.number;
}

/// Returns the nonce of a request to a rate limiter. The server stores each request in a sorted
/// set, and the nonce makes this entry unique. The format of the nonce depends on the Redisson
/// version (docs/protocol/rate.md).
std::string nonce_of(const owner_id& request, redisson_form form) {
    std::string nonce;
    if (form == redisson_form::v3_13) {
        const std::uint64_t all = shortened(request);
        append_number(nonce, all ^ all >> 32, 4);
    } else if (form == redisson_form::v3_16) {
        append_number(nonce, 8, 8); // length of the bytes that follow
        append_number(nonce, shortened(request), 8);
    } else {
        nonce += '\x10'; // length of the bytes that follow, as one byte
        nonce.append(request.client.begin(), request.client.begin() + client_bytes);
        append_number(nonce, request.number, 6);
    }
    return nonce;
}

changed rate_changed_in(const reply& answer) {
    const auto [said, now, value, receivers] = integers<4>(answer);
    const std::int64_t verdict_said = integer_up_to(2, answer.items[0]);
    changed all;
    all.seen.said = verdict_said == 2 ? verdict::late : verdict::granted;
    all.seen.server_now = std::chrono::microseconds{now};
    came_by(answer, all.seen);
    all.what.done = said == 1;
    all.what.value = value;
    all.receivers = receivers;
    return all;
}

counter_state rate_in(const reply& answer) {
    const auto [there, value, permits, per, per_client, kept] = integers<6>(answer);
    counter_state found{.exists = integer_up_to(1, answer.items[0]) == 1, .value = value};
    const bool is_each = integer_up_to(1, answer.items[4]) == 1 && per_client == 1;
    found.of = {.permits = permits,
                .per = duration{per},
                .scope = is_each ? rate::scope_of::per_client : rate::scope_of::overall,
                .kept = duration{kept}};
    found.exists = found.exists && there == 1;
    return found;
}

} // namespace

std::string rate_member(const owner_id& request, std::int64_t permits, redisson_form form) {
    std::string member = nonce_of(request, form);
    append_number(member, static_cast<std::uint64_t>(permits), 4);
    return member;
}

asio::awaitable<attempt> take_rate(node& server, const counter_ask& want, duration memory,
                                   server_deadline deadline) {
    const rate_keys of = rate_keys_of(want.name, want.request.client);
    const std::string member = rate_member(want.request, want.amount, server.redisson());
    const std::string_view keys[] = {want.name.text, of.left, of.own_left, of.draws, of.own_draws};
    const argument arguments[] = {want.amount, member, deadline};
    const reply answer = co_await server.call(scripts::take_rate, keys, arguments,
                                              confirmed_by(want.replicas, memory));
    co_return checked(server, answer, [](const reply& said) { return attempt_in<3>(said); });
}

asio::awaitable<released> give_back_rate(node& server, const counter_ask& want) {
    const rate_keys of = rate_keys_of(want.name, want.request.client);
    const std::string member = rate_member(want.request, want.amount, server.redisson());
    const std::string_view keys[] = {want.name.text, of.left, of.own_left, of.draws, of.own_draws};
    const argument arguments[] = {member};
    const call_options reserved{.reserved = true};
    const reply answer = co_await server.call(scripts::give_back_rate, keys, arguments, reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<changed> change_rate(node& server, const counter_change& what, remembered as,
                                     server_deadline deadline) {
    const rate_keys of = rate_keys_of(what.name, what.request.client);
    const std::string requests = requests_key(what.name, what.request);
    const std::string_view verb = word_of(what.verb);
    const bool sets = what.verb == counter_verb::set || what.verb == counter_verb::set_new;
    const std::int64_t permits = sets ? what.to.permits : what.amount;
    const std::int64_t per_client = what.to.scope == rate::scope_of::per_client ? 1 : 0;
    const std::string_view keys[] = {what.name.text, of.left,      of.own_left,
                                     of.draws,       of.own_draws, requests};
    const argument arguments[] = {verb,
                                  permits,
                                  what.to.per.count(),
                                  per_client,
                                  what.to.kept.count(),
                                  as.where.slot,
                                  as.where.number,
                                  deadline,
                                  as.memory.count()};
    const reply answer = co_await server.call(scripts::change_rate, keys, arguments,
                                              confirmed_by(what.replicas, as.memory));
    co_return checked(server, answer, rate_changed_in);
}

asio::awaitable<counter_state> inspect_rate(node& server, const lock_name& name,
                                            const std::array<std::uint8_t, 16>& client) {
    const rate_keys of = rate_keys_of(name, client);
    const std::string_view keys[] = {name.text, of.left, of.own_left, of.draws, of.own_draws};
    const reply answer = co_await server.call(scripts::inspect_rate, keys, {});
    co_return checked(server, answer, rate_in);
}

} // namespace holdfast::redis
