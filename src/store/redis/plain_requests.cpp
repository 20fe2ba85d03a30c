// SPDX-License-Identifier: Apache-2.0
#include "store/redis/plain_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {
namespace {

attempt plain_attempt_in(const reply& answer) {
    return attempt_in(answer);
}

released untold_in(const reply& answer) {
    released outcome = released_in(answer);
    if (outcome.receivers < 0)
        throw_unexpected_answer();
    outcome.heard_late = false;
    return outcome;
}

/// Returns whether the hold is the write hold of a read-write lock. Write holds are renewed
/// together with plain locks.
bool writes(const hold& held) {
    return held.kind == lock_kind::write;
}

/// Takes a lock. `waiters` is the key with the waiters of a spin lock; empty for other locks.
asio::awaitable<attempt> take(node& server, const ask& want, server_deadline deadline,
                              std::string waiters) {
    const std::string owner = to_string(want.owner);
    const bool spins = !waiters.empty();
    const std::int64_t known_for = want.waits ? want.outlasts.count() : 0;
    const std::string_view keys[] = {want.name.text, waiters};
    const argument arguments[] = {want.lease_time.count(), owner, deadline, known_for};
    const reply answer = co_await server.call(
        scripts::lock_mutex, std::span{keys}.first(spins ? 2 : 1),
        std::span{arguments}.first(spins ? 4 : 3), confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, plain_attempt_in);
}

/// Releases a lock. Notifies the subscribers of `channel`. For a spin lock returns instead whether
/// other clients are among `waiters`.
asio::awaitable<released> release(node& server, const hold& held, std::string channel,
                                  std::string waiters) {
    const std::string owner = to_string(held.owner);
    const std::string_view keys[] = {held.name.text, waiters};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, channel, way.command, way.other};
    const call_wishes room{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_mutex, std::span{keys}.first(waiters.empty() ? 1 : 2),
                             telling_by(way, arguments), room);
    co_return checked(server, answer, channel.empty() ? untold_in : released_in);
}

} // namespace

asio::awaitable<attempt> lock_mutex(node& server, const ask& want, server_deadline deadline) {
    return take(server, want, deadline, {});
}

asio::awaitable<attempt> lock_spin(node& server, const ask& want, server_deadline deadline) {
    return take(server, want, deadline, spinners_key(want.name));
}

asio::awaitable<released> release_mutex(node& server, const hold& held) {
    return release(server, held, lock_channel(held.name).text, {});
}

asio::awaitable<released> release_spin(node& server, const hold& held) {
    return release(server, held, {}, spinners_key(held.name));
}

asio::awaitable<renewed_holds> renew_leases(node& server, std::optional<shard> at, hold_list holds,
                                            const renewal_wishes& how) {
    const std::string client = client_part(holds.front()->owner);
    std::vector<std::string_view> names;
    std::deque<std::string> fields; // fields of write holds; a deque does not move them
    std::vector<argument> arguments{how.lease_time.count(), client};
    names.reserve(holds.size());
    arguments.reserve(arguments.size() + holds.size());
    for (const hold* const each : holds) {
        names.emplace_back(each->name.text);
        if (writes(*each))
            arguments.emplace_back(
                std::string_view{fields.emplace_back(write_field(each->owner.number))});
        else
            arguments.emplace_back(static_cast<std::int64_t>(each->owner.number));
    }
    const call_wishes wishes = wishes_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_leases, names, arguments, wishes);
    const auto read = [&](const reply& all) { return held_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

} // namespace holdfast::redis
