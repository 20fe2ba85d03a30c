// SPDX-License-Identifier: Apache-2.0
#include "store/redis/shared_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "store/remote/mark.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

attempt read_attempt_in(const reply& answer) {
    attempt outcome = attempt_in(answer, verdict::unfounded);
    const std::int64_t others_have = integers<3>(answer)[1];
    if (outcome.said == verdict::granted && others_have >= 0)
        outcome.left = duration{others_have};
    return outcome;
}

attempt write_attempt_in(const ask& want, const reply& answer) {
    attempt outcome = attempt_in(answer, verdict::unfounded);
    outcome.queued = remote::may_be_marked(want, outcome.said);
    return outcome;
}

/// Returns the field of the existing hold that the new hold shall stand beside (an upgrade or a
/// downgrade). Empty if there is none.
std::string field_beside(const ask& want) {
    if (want.under == 0)
        return {};
    const std::string client = client_part(want.owner);
    return client +
           (want.kind == lock_kind::read ? write_field(want.under) : std::to_string(want.under));
}

} // namespace

asio::awaitable<attempt> lock_read(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner), beside = field_beside(want);
    const std::string timer = timer_key(want.name, owner), marks = writers_key(want.name);
    const std::string_view keys[] = {want.name.text, timer, marks};
    const argument arguments[] = {want.lease_time.count(), owner, deadline, beside};
    const reply answer = co_await server.call(scripts::lock_read, keys, arguments,
                                              confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, read_attempt_in);
}

asio::awaitable<attempt> lock_write(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner), beside = field_beside(want);
    const std::string timers = timer_prefix(want.name), marks = writers_key(want.name);
    const std::int64_t marked_for = want.waits ? want.outlasts.count() : 0;
    const std::string_view keys[] = {want.name.text, marks};
    const argument arguments[] = {
        want.lease_time.count(), owner, deadline, beside, timers, marked_for,
        want.head_start.count()};
    const reply answer = co_await server.call(scripts::lock_write, keys, arguments,
                                              confirmed_by(want.replicas, want.lease_time));
    const auto read = [&want](const reply& all) { return write_attempt_in(want, all); };
    co_return checked(server, answer, read);
}

asio::awaitable<released> release_read(node& server, const hold& held) {
    const std::string owner = to_string(held.owner), timer = timer_key(held.name, owner);
    const std::string marks = writers_key(held.name), timers = timer_prefix(held.name);
    const channel_name channel = shared_channel(held.name);
    const std::string_view keys[] = {held.name.text, timer, marks};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, timers, channel.text, way.command, way.other};
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_read, keys, telling_by(way, arguments), room);
    co_return checked(server, answer, released_in);
}

asio::awaitable<released> release_write(node& server, const hold& held) {
    const std::string owner = to_string(held.owner), timers = timer_prefix(held.name);
    const std::string marks = writers_key(held.name);
    const channel_name channel = shared_channel(held.name);
    const std::string_view keys[] = {held.name.text, marks};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, timers, channel.text, way.command, way.other};
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_write, keys, telling_by(way, arguments), room);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_reads(node& server, std::optional<shard> at, hold_list holds,
                                           const renewal_wishes& how) {
    const std::string client = client_part(holds.front()->owner);
    std::vector<std::string> timers;
    std::vector<std::string_view> keys;
    std::vector<argument> arguments{how.lease_time.count(), client};
    timers.reserve(holds.size());
    for (const hold* const each : holds) {
        timers.push_back(timer_key(each->name, to_string(each->owner)));
        keys.emplace_back(each->name.text);
        keys.emplace_back(timers.back());
        arguments.emplace_back(static_cast<std::int64_t>(each->owner.number));
    }
    const call_wishes wishes = wishes_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_reads, keys, arguments, wishes);
    const auto read = [&](const reply& all) { return held_and_left_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

} // namespace holdfast::redis
