// SPDX-License-Identifier: Apache-2.0
#include "store/redis/plain_requests.hpp"

#include "redis/mutants.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

attempt attempt_in(const reply& answer) {
    const auto [said, left, server_now] = integers<3>(answer);
    attempt outcome;
    outcome.said = static_cast<verdict>(integer_up_to(2, answer.items[0]));
    if (said == 0 && left >= 0)
        outcome.left = duration{left};
    outcome.server_now = std::chrono::microseconds{server_now};
    outcome.sent_at = answer.sent_at;
    outcome.received_at = answer.received_at;
    outcome.clock = answer.clock;
    return outcome;
}

released released_in(const reply& answer) {
    const auto [was_ours, receivers] = integers<2>(answer);
    return {integer_up_to(1, answer.items[0]) == 1, receivers < 0, receivers};
}

std::vector<bool> held_in(const reply& said, std::size_t holds) {
    std::vector<bool> held;
    for (const reply& each : items(said, holds))
        held.push_back(integer_up_to(1, each) == 1);
    return held;
}

std::string client_part(const owner_id& owner) {
    std::string text = to_string(owner);
    text.erase(text.find(':') + 1);
    return text;
}

} // namespace

asio::awaitable<attempt> lock_mutex(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string_view keys[] = {want.name.text};
    const argument arguments[] = {want.lease_time.count(), owner, deadline};
    const reply answer = co_await server.call(scripts::lock_mutex, keys, arguments);
    co_return checked(server, answer, attempt_in);
}

asio::awaitable<released> release_mutex(node& server, const hold& held) {
    const std::string owner = to_string(held.owner);
    const channel_name channel = lock_channel(held.name);
    const std::string_view keys[] = {held.name.text};
    const argument arguments[] = {owner, channel.text, publish_command};
    const call_wishes room{.reserved = true};
    const reply answer = co_await server.call(scripts::release_mutex, keys, arguments, room);
    co_return checked(server, answer, released_in);
}

asio::awaitable<std::vector<bool>> renew_leases(node& server, hold_list holds,
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
    const call_wishes wishes{
        .answer_by = how.answer_by, .elsewhere = how.elsewhere, .reserved = true};
    const reply said = co_await server.call(scripts::renew_leases, names, arguments,
                          planted(mutant::wishes_not_told) ? call_wishes{} : wishes);
    const auto read = [&holds](const reply& all) { return held_in(all, holds.size()); };
    co_return checked(server, said, read);
}

} // namespace holdfast::redis
