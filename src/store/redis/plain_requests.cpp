// SPDX-License-Identifier: Apache-2.0
#include "store/redis/plain_requests.hpp"

#include "redis/mutants.hpp"
#include "store/redis/attempt_reply.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

released released_in(const reply& answer) {
    const auto [was_ours, receivers] = integers<2>(answer);
    return {integer_up_to(1, answer.items[0]) == 1, receivers < 0, receivers};
}

released untold_in(const reply& answer) {
    const released outcome = released_in(answer);
    if (outcome.receivers != 0)
        throw_unexpected_answer();
    return outcome;
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

asio::awaitable<released> release(node& server, const hold& held, std::string channel) {
    const std::string owner = to_string(held.owner);
    const std::string_view keys[] = {held.name.text};
    const argument arguments[] = {owner, channel, publish_command};
    const call_wishes room{.reserved = true};
    const reply answer = co_await server.call(scripts::release_mutex, keys, arguments, room);
    co_return checked(server, answer, channel.empty() ? untold_in : released_in);
}

} // namespace

asio::awaitable<attempt> lock_mutex(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string_view keys[] = {want.name.text};
    const argument arguments[] = {want.lease_time.count(), owner, deadline};
    const reply answer = co_await server.call(scripts::lock_mutex, keys, arguments);
    co_return checked(server, answer, attempt_in<>);
}

asio::awaitable<released> release_mutex(node& server, const hold& held) {
    co_return co_await release(server, held, lock_channel(held.name).text);
}

asio::awaitable<released> release_untold(node& server, const hold& held) {
    co_return co_await release(server, held, {});
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
    const reply said =
        co_await server.call(scripts::renew_leases, names, arguments,
                             planted(mutant::wishes_not_told) ? call_wishes{} : wishes);
    const auto read = [&holds](const reply& all) { return held_in(all, holds.size()); };
    co_return checked(server, said, read);
}

} // namespace holdfast::redis
