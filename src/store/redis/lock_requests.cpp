// SPDX-License-Identifier: Apache-2.0
#include "store/redis/lock_requests.hpp"

#include "store/redis/counter_requests.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <charconv>
#include <deque>
#include <span>
#include <string_view>

namespace holdfast::redis {
namespace {

channel_name lock_channel_of(const hold& held) {
    return lock_channel(held.name);
}

channel_name shared_channel_of(const hold& held) {
    return shared_channel(held.name);
}

channel_name token_channel_of(const hold& held) {
    return token_channel(held.name);
}

channel_name permits_channel_of(const hold& held) {
    return semaphore_channel(held.name);
}

constexpr verbs plain{lock_mutex, release_mutex, renew_leases, lock_channel_of};
constexpr verbs in_queue{lock_outside_queue, release_to_queue, renew_leases,
                         lock_channel_of,    linger::usual,    true}; // plain and fenced locks
constexpr verbs spin{lock_spin, release_spin, renew_leases, nullptr};
constexpr verbs fenced{lock_fenced, release_mutex, renew_leases, lock_channel_of};
constexpr verbs fair{lock_fair, release_fair, renew_leases, fair_channel, linger::none};
constexpr verbs of_readers{lock_read, release_read, renew_reads, shared_channel_of, linger::none};
constexpr verbs of_writers{lock_write, release_write, renew_leases, shared_channel_of,
                           linger::none};
constexpr verbs of_tokens{lock_token, release_token, renew_tokens, token_channel_of};
constexpr verbs of_permits{lease_permits, return_permits, renew_permits, permits_channel_of};

} // namespace

const verbs* verbs_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::plain:
        return &plain;
    case lock_kind::spin:
        return &spin;
    case lock_kind::fenced:
        return &fenced;
    case lock_kind::fair:
        return &fair;
    case lock_kind::read:
        return &of_readers;
    case lock_kind::write:
        return &of_writers;
    case lock_kind::token:
        return &of_tokens;
    case lock_kind::permit:
        return &of_permits;
    default:
        return nullptr;
    }
}

const verbs* verbs_of(lock_kind kind, const node& server) noexcept {
    const bool may_queue = kind == lock_kind::plain || kind == lock_kind::fenced;
    return may_queue && server.direct_hand_off() ? &in_queue : verbs_of(kind);
}

namespace {

/// Returns the fencing token in a reply. `is_there` says whether the reply must contain a token.
/// Throws if the reply has no token although it must, or has a token although it must not.
std::uint64_t token_at(std::size_t which, const reply& answer, bool is_there) {
    const std::int64_t token = integer(answer.items[which]);
    if (token < 0 || is_there != (token > 0))
        throw_unexpected_answer();
    return static_cast<std::uint64_t>(token);
}

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

/// Returns whether the hold is the write hold of a read-write lock. The script that renews plain
/// locks also renews write holds.
bool writes(const hold& held) {
    return held.kind == lock_kind::write;
}

/// Takes a lock. If the lock is a spin lock, `waiters` is the key that lists its waiters. For other
/// locks, `waiters` is empty.
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

/// Releases a lock, and notifies the subscribers of `channel`. The release of a spin lock notifies
/// no one. Instead, the result says whether the key `waiters` lists other clients.
asio::awaitable<released> release(node& server, const hold& held, std::string channel,
                                  std::string waiters) {
    const std::string owner = to_string(held.owner);
    const std::string_view keys[] = {held.name.text, waiters};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, channel, way.command, way.other};
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_mutex, std::span{keys}.first(waiters.empty() ? 1 : 2),
                             telling_by(way, arguments), reserved);
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

namespace {

/// Time for which the server keeps the queue after the last request of any client. This time is
/// longer than `queue_poll_bound` plus a command timeout. So the queue does not expire while a
/// client waits.
constexpr duration queue_lasts{10'000};

/// Modulus of the request numbers that the queue stores; see scripts/parts/queue.lua.
constexpr std::uint64_t requests_counted = 1024;

attempt queued_attempt_in(const reply& answer, bool is_fenced) {
    attempt outcome = attempt_in<5>(answer);
    const std::int64_t joined = integer_up_to(1, answer.items[3]);
    outcome.queued = outcome.said == verdict::busy && joined == 1;
    outcome.token = token_at(4, answer, outcome.said == verdict::granted && is_fenced);
    return outcome;
}

released handed_on_in(const reply& answer) {
    const auto [was_ours, receivers, handed_on] = integers<3>(answer);
    return {integer_up_to(1, answer.items[0]) == 1, receivers < 0, receivers, answer.moves,
            integer_up_to(1, answer.items[2]) == 1};
}

} // namespace

asio::awaitable<attempt> lock_in_queue(node& server, const ask& want, server_deadline deadline,
                                       std::uint64_t number) {
    const std::string owner = to_string(want.owner), queue = waiting_key(want.name);
    const std::string counter = token_key(want.name);
    const bool is_fenced = want.kind == lock_kind::fenced;
    const std::string_view keys[] = {want.name.text, counter};
    const argument arguments[] = {want.lease_time.count(),
                                  owner,
                                  deadline,
                                  static_cast<std::int64_t>(number),
                                  queue_lasts.count(),
                                  queue,
                                  std::int64_t{want.tokens},
                                  std::int64_t{want.numbers == fencing::dated}};
    const reply answer =
        co_await server.call(scripts::lock_in_queue, std::span{keys}.first(is_fenced ? 2 : 1),
                             std::span{arguments}.first(is_fenced ? 8 : 6),
                             confirmed_by(want.replicas, want.lease_time));
    const auto read = [is_fenced](const reply& all) { return queued_attempt_in(all, is_fenced); };
    co_return checked(server, answer, read);
}

asio::awaitable<attempt> lock_outside_queue(node& server, const ask& want,
                                            server_deadline deadline) {
    return lock_in_queue(server, want, deadline, 0);
}

std::string grant_message(const owner_id& owner, std::uint64_t number) {
    if (number >= requests_counted)
        return {}; // an earlier request had the same message
    return std::to_string(owner.number) + ' ' + std::to_string(number);
}

std::optional<std::uint64_t> token_in_grant(lock_kind kind, std::string_view message,
                                            std::string_view expected) {
    if (!message.starts_with(expected))
        return std::nullopt;
    message.remove_prefix(expected.size());
    if (kind != lock_kind::fenced)
        return message.empty() ? std::optional<std::uint64_t>{0} : std::nullopt;
    std::uint64_t token = 0;
    const char* const end = message.data() + message.size();
    if (message.empty() || message.front() != ' ' ||
        std::from_chars(message.data() + 1, end, token) != std::from_chars_result{end, {}} ||
        token == 0)
        return std::nullopt;
    return token;
}

asio::awaitable<released> release_to_queue(node& server, const hold& held) {
    const std::string owner = to_string(held.owner), queue = waiting_key(held.name);
    const channel_name channel = lock_channel(held.name);
    const std::string inboxes = inbox_prefix(held.name), counter = token_key(held.name);
    const std::string_view keys[] = {held.name.text};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner,
                                  channel.text,
                                  queue,
                                  inboxes,
                                  handed_over_lease.count(),
                                  counter,
                                  std::int64_t{queue_tokens},
                                  std::int64_t{server.has_unseen_listeners()},
                                  way.command,
                                  way.other};
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_to_queue, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, handed_on_in);
}

asio::awaitable<released> release_spin(node& server, const hold& held) {
    return release(server, held, {}, spinners_key(held.name));
}

asio::awaitable<renewed_holds> renew_leases(node& server, std::optional<shard> at, hold_list holds,
                                            const renewal_options& how) {
    const std::string client = client_part(holds.front()->owner);
    std::vector<std::string_view> names;
    std::deque<std::string> fields; // fields of write holds; a deque never moves its elements
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
    const call_options options = options_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_leases, names, arguments, options);
    const auto read = [&](const reply& all) { return held_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

namespace {

attempt fenced_attempt_in(const reply& answer) {
    attempt outcome = attempt_in<4>(answer);
    outcome.token = token_at(3, answer, outcome.said == verdict::granted);
    return outcome;
}

std::uint64_t token_in(const reply& answer) {
    const std::int64_t token = integer(answer);
    if (token < 0)
        throw_unexpected_answer();
    return static_cast<std::uint64_t>(token);
}

} // namespace

asio::awaitable<attempt> lock_fenced(node& server, const ask& want, server_deadline deadline) {
    const std::string owner = to_string(want.owner);
    const std::string token = token_key(want.name);
    const std::string_view keys[] = {want.name.text, token};
    const argument arguments[] = {want.lease_time.count(), owner, deadline,
                                  static_cast<std::int64_t>(want.tokens),
                                  std::int64_t{want.numbers == fencing::dated}};
    const reply answer = co_await server.call(scripts::lock_fenced, keys, arguments,
                                              confirmed_by(want.replicas, want.lease_time));
    co_return checked(server, answer, fenced_attempt_in);
}

asio::awaitable<std::uint64_t> last_token(node& server, const lock_name& name) {
    const std::string token = token_key(name);
    const std::string_view keys[] = {token};
    const reply answer = co_await server.call(scripts::last_token, keys, {});
    co_return checked(server, answer, token_in);
}

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
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_fair, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

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

/// Returns the hash field of the hold that the request upgrades or downgrades. This hold belongs to
/// the same client. Returns an empty text for any other request.
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
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_read, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<released> release_write(node& server, const hold& held) {
    const std::string owner = to_string(held.owner), timers = timer_prefix(held.name);
    const std::string marks = writers_key(held.name);
    const channel_name channel = shared_channel(held.name);
    const std::string_view keys[] = {held.name.text, marks};
    const publishing way = server.telling_commands();
    const argument arguments[] = {owner, timers, channel.text, way.command, way.other};
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_write, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_reads(node& server, std::optional<shard> at, hold_list holds,
                                           const renewal_options& how) {
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
    const call_options options = options_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_reads, keys, arguments, options);
    const auto read = [&](const reply& all) { return held_and_left_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

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
    const call_options reserved{.reserved = true};
    const reply answer =
        co_await server.call(scripts::release_token, keys, telling_by(way, arguments), reserved);
    co_return checked(server, answer, released_in);
}

asio::awaitable<renewed_holds> renew_tokens(node& server, std::optional<shard> at, hold_list holds,
                                            const renewal_options& how) {
    const std::string client = client_part(holds.front()->owner);
    std::vector<std::string_view> names;
    std::vector<argument> arguments{how.lease_time.count(), client};
    names.reserve(holds.size());
    arguments.reserve(arguments.size() + holds.size());
    for (const hold* const each : holds) {
        names.emplace_back(each->name.text);
        arguments.emplace_back(static_cast<std::int64_t>(each->owner.number));
    }
    const call_options options = options_of(holds, how);
    const reply said =
        co_await ask_for_holds(server, at, scripts::renew_tokens, names, arguments, options);
    const auto read = [&](const reply& all) { return held_in(all, holds, how, at); };
    co_return checked(server, said, read);
}

namespace {

/// Returns the text that stands for the owner of a hold in the lock's key.
std::string holder_text(const owner_id& owner, lock_kind kind) {
    if (kind == lock_kind::write)
        return client_part(owner) + write_field(owner.number);
    return to_string(owner);
}

} // namespace

asio::awaitable<attempt> move_hold(node& server, const hold& held, const ask& wanted,
                                   server_deadline deadline) {
    const std::string from = holder_text(held.owner, held.kind);
    const std::string to = holder_text(wanted.owner, held.kind);
    const std::string_view keys[] = {held.name.text};
    const argument arguments[] = {wanted.lease_time.count(), from, to, deadline};
    const script& what = held.kind == lock_kind::token ? scripts::move_token : scripts::move_hold;
    const reply answer = co_await server.call(what, keys, arguments,
                                              confirmed_by(wanted.replicas, wanted.lease_time));
    co_return checked(server, answer, plain_attempt_in);
}

} // namespace holdfast::redis
