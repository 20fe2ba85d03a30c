// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/kinds.hpp"
#include "store/redis/replies.hpp"

namespace holdfast::redis {

/// What every script that takes a lock answers, and perhaps more behind it: its verdict, the ms
/// that are left of the hold that keeps it busy (-1: no end), and the server's time.
template <std::size_t Count = 3>
attempt attempt_in(const reply& answer) {
    const std::array<std::int64_t, Count> numbers = integers<Count>(answer);
    attempt outcome;
    outcome.said = static_cast<verdict>(integer_up_to(2, answer.items[0]));
    if (outcome.said == verdict::busy && numbers[1] >= 0)
        outcome.left = duration{numbers[1]};
    outcome.server_now = std::chrono::microseconds{numbers[2]};
    outcome.sent_at = answer.sent_at;
    outcome.received_at = answer.received_at;
    outcome.clock = answer.clock;
    return outcome;
}

} // namespace holdfast::redis
