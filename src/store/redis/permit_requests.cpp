// SPDX-License-Identifier: Apache-2.0
#include "store/redis/permit_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/permit_id.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
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
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_permits, keys, telling_by(way, arguments), room);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_permits(node& server, std::optional<shard> at, hold_list holds,
                                             const renewal_wishes& how) {
    const std::string prefix = permit_prefix(holds.front()->owner, server.redisson());
    std::vector<std::string> leased, numbers; // `keys` and `arguments` point into these vectors
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
    const call_wishes wishes = wishes_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_permits, keys, arguments, wishes);
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

} // namespace holdfast::redis
