// SPDX-License-Identifier: Apache-2.0
// Readers of the replies of scripts that take, release and renew locks.
#pragma once

#include "store/redis/confirmation.hpp"
#include "store/redis/kinds.hpp"
#include "store/redis/replies.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Returns the attempt that a reply describes. The reply has the verdict, the remaining ms of the
/// hold that keeps the lock busy (-1: no end), the time in µs on the server's clock, and perhaps
/// more numbers. `last` is the greatest verdict of this script.
template <std::size_t Count = 3>
attempt attempt_in(const reply& answer, verdict last = verdict::late) {
    const std::array<std::int64_t, Count> numbers = integers<Count>(answer);
    attempt outcome;
    outcome.said =
        static_cast<verdict>(integer_up_to(static_cast<std::int64_t>(last), answer.items[0]));
    if (outcome.said == verdict::busy && numbers[1] >= 0)
        outcome.left = duration{numbers[1]};
    outcome.server_now = std::chrono::microseconds{numbers[2]};
    came_by(answer, outcome);
    return outcome;
}

inline released released_in(const reply& answer) {
    const auto [was_ours, receivers] = integers<2>(answer);
    return {integer_up_to(1, answer.items[0]) == 1, receivers < 0, receivers, answer.moves};
}

/// Returns the options for a renewal of several holds by one request. Replicas need not confirm a
/// renewal that extends nothing.
inline call_wishes wishes_of(hold_list holds, const renewal_wishes& how) {
    const bool extends = how.lease_time > duration::zero();
    call_wishes wishes =
        confirmed_by(extends ? holds.front()->replicas : std::uint8_t{0}, how.lease_time);
    wishes.answer_by = how.answer_by;
    wishes.elsewhere = how.elsewhere;
    wishes.reserved = true;
    wishes.divisible = true;
    return wishes;
}

/// Sends the script of a renewal. In a request to one given server of a cluster, the names are
/// arguments and not keys, because the keys of a script must have a common slot.
inline asio::awaitable<reply> ask_for_holds(node& server, std::optional<shard> at,
                                            const script& what,
                                            const std::vector<std::string_view>& names,
                                            std::vector<argument>& arguments,
                                            const call_wishes& wishes) {
    if (!at)
        return server.call(what, names, arguments, wishes);
    arguments.insert(arguments.end(), names.begin(), names.end());
    return server.call_at(*at, what, arguments, wishes);
}

/// Sets `unconfirmed` if replicas had to confirm the renewal and too few did.
inline void note_confirmation(const reply& said, hold_list holds, const renewal_wishes& how,
                              renewed_holds& all) {
    if (how.lease_time > duration::zero()) {
        attempt confirmed;
        came_by(said, confirmed);
        judge_confirmation(confirmed, holds.front()->replicas);
        all.unconfirmed = std::move(confirmed.unconfirmed);
    }
}

inline renewed_holds held_in(const reply& said, hold_list holds, const renewal_wishes& how,
                             std::optional<shard> at) {
    const standing last = at ? standing::elsewhere : standing::held;
    renewed_holds all;
    all.each.reserve(holds.size());
    for (const reply& each : items(said, holds.size()))
        all.each.push_back(
            static_cast<standing>(integer_up_to(static_cast<std::int64_t>(last), each)));
    note_confirmation(said, holds, how, all);
    return all;
}

/// Returns the holds in a reply that also has each remaining lease. The number of a hold that still
/// exists is its remaining ms plus `left_from`.
inline renewed_holds held_and_left_in(const reply& said, hold_list holds, const renewal_wishes& how,
                                      std::optional<shard> at) {
    constexpr std::int64_t left_from = 3, most = std::int64_t{1} << 53;
    renewed_holds all;
    for (const reply& each : items(said, holds.size())) {
        const std::int64_t number = integer_up_to(most, each);
        const bool is_gone = number == static_cast<std::int64_t>(standing::gone);
        const bool is_elsewhere = number == static_cast<std::int64_t>(standing::elsewhere);
        if (number < left_from && !is_gone && !(is_elsewhere && at))
            throw_unexpected_answer();
        all.each.push_back(is_gone        ? standing::gone
                           : is_elsewhere ? standing::elsewhere
                                          : standing::held);
        all.left_before.emplace_back(std::max<std::int64_t>(number - left_from, 0));
    }
    note_confirmation(said, holds, how, all);
    return all;
}

/// Returns the common beginning of the texts of all owners of a client.
inline std::string client_part(const owner_id& owner) {
    std::string text = to_string(owner);
    text.erase(text.find(':') + 1);
    return text;
}

/// Returns the end of the field name of a write hold: the part after the client.
inline std::string write_field(std::uint64_t number) {
    return std::to_string(number) + ":write";
}

} // namespace holdfast::redis
