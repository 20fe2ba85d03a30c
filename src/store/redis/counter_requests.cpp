// SPDX-License-Identifier: Apache-2.0
#include "store/redis/counter_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
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
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::revoke_semaphore, keys, telling_by(way, arguments), room);
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

} // namespace holdfast::redis
