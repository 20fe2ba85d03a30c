// SPDX-License-Identifier: Apache-2.0
// Requests about semaphores and latches: one function for each script.
#pragma once

#include "redis/node.hpp"
#include "store/redis/kinds.hpp"
#include "store/redis/request_slots.hpp"

#include <holdfast/counters.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace holdfast::redis {

/// Where and how long the server remembers a request: the slot, and the time.
struct remembered {
    request_slot where;
    duration memory;
};

/// Outcome of a change, and the number of connections that were notified. The number is negative if
/// the right to publish is missing.
struct changed {
    attempt seen;
    counter_answer what;
    std::int64_t receivers = 0;
};

// The arguments of these functions must live until the request has completed.

asio::awaitable<attempt> take_permits(node&, const counter_ask&, remembered, server_deadline);
asio::awaitable<released> revoke_permits(node&, const counter_ask&, remembered);
asio::awaitable<attempt> look_at_latch(node&, const counter_ask&);
asio::awaitable<changed> change_counter(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_counter(node&, const lock_name&, counter_kind);

/// word_of() returns the word for the verb in the arguments of scripts. changed_in() reads the
/// reply to a change.
std::string_view word_of(counter_verb);
changed changed_in(const reply&);

std::string_view word_of(counter_verb);

/// Returns the channel of a counter's change notifications.
channel_name channel_of(const lock_name&, counter_kind);

} // namespace holdfast::redis
