// SPDX-License-Identifier: Apache-2.0
#include "store/redis/fair_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

attempt fair_attempt_in(const ask& want, const reply& answer) {
    attempt outcome = attempt_in<4>(answer);
    outcome.queued = outcome.said == verdict::busy && want.waits;
    const std::int64_t place = integer_up_to(2, answer.items[3]);
    outcome.joined_now = place == 1;
    outcome.place_stays = place == 2;
    return outcome;
}

} // namespace

asio::awaitable<attempt> lock_fair(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string queue = fair_queue(want.name), deadlines = fair_deadlines(want.name);
    const channel_name channel = lock_channel(want.name);
    const std::string_view keys[] = {want.name.text, queue, deadlines};
    const publishing way = server.telling_commands();
    const argument arguments[] = {want.lease_time.count(),
                                  owner,
                                  deadline,
                                  channel.text,
                                  way.command,
                                  std::int64_t{want.waits},
                                  want.outlasts.count(),
                                  server.fair_wait().count(),
                                  way.other};
    const reply answer = co_await server.call(scripts::lock_fair, keys, telling_by(way, arguments),
                                              confirmed_by(want.replicas, want.lease_time));
    const auto read = [&want](const reply& all) { return fair_attempt_in(want, all); };
    co_return checked(server, answer, read);
}

asio::awaitable<released> release_fair(node& server, const hold& held) {
    const std::string owner = to_string(held.owner);
    const std::string queue = fair_queue(held.name), deadlines = fair_deadlines(held.name);
    const channel_name channel = lock_channel(held.name);
    const std::string_view keys[] = {held.name.text, queue, deadlines};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, channel.text, way.command, server.fair_wait().count(),
                                  way.other};
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_fair, keys, telling_by(way, arguments), room);
    co_return checked(server, answer, released_in);
}

} // namespace holdfast::redis
