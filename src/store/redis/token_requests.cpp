// SPDX-License-Identifier: Apache-2.0
#include "store/redis/token_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

attempt token_attempt_in(const reply& answer) {
    attempt outcome = attempt_in<4>(answer);
    outcome.holder_tells = integer_up_to(1, answer.items[3]) == 1;
    return outcome;
}

} // namespace

asio::awaitable<attempt> lock_token(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string_view keys[] = {want.name.text};
    const argument arguments[] = {want.lease_time.count(), owner, deadline};
    const reply answer = co_await server.call(scripts::lock_token, keys, arguments,
                                              confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, token_attempt_in);
}

asio::awaitable<released> release_token(node& server, const hold& held) {
    const std::string owner = to_string(held.owner);
    const std::string channel = token_channel(held.name).text;
    const std::string_view keys[] = {held.name.text};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, channel, way.command, way.other};
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_token, keys, telling_by(way, arguments), room);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_tokens(node& server, std::optional<shard> at, hold_list holds,
                                            const renewal_wishes& how) {
    const std::string client = client_part(holds.front()->owner);
    std::vector<std::string_view> names;
    std::vector<argument> arguments{how.lease_time.count(), client};
    names.reserve(holds.size());
    arguments.reserve(arguments.size() + holds.size());
    for (const hold* const each : holds) {
        names.emplace_back(each->name.text);
        arguments.emplace_back(static_cast<std::int64_t>(each->owner.number));
    }
    const call_wishes wishes = wishes_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_tokens, names, arguments, wishes);
    const auto read = [&](const reply& all) { return held_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

} // namespace holdfast::redis
