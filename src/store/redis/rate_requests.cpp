// SPDX-License-Identifier: Apache-2.0
#include "store/redis/rate_requests.hpp"

#include "store/redis/lock_replies.hpp"
#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"

#include <cstddef>
#include <string_view>

namespace holdfast::redis {
namespace {

/// Number of bytes of a client's UUID in a nonce. The first bytes are used. They are random, except
/// for the mark of holdfast clients.
constexpr std::size_t client_bytes = 10;

/// Appends the number, lowest byte first. The machines of JVMs and servers use this byte order too.
void append_number(std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i)
        to += static_cast<char>(number >> (8 * i) & 0xff);
}

/// Returns the request as 64 bits. Requests of one client get consecutive numbers. Each client
/// begins at a random number, so the numbers of different clients are far apart.
std::uint64_t shortened(const owner_id& request) {
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < 8; ++i)
        start = start << 8 | request.client[i];
    return start + request.number;
}

/// Returns the bytes that make a draw unique, in the format of the given Redisson version; see
/// docs/protocol/rate.md.
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
    const call_wishes room{.reserved = true};
    const reply answer = co_await server.call(scripts::give_back_rate, keys, arguments, room);
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
