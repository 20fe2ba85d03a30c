// SPDX-License-Identifier: Apache-2.0
// What is asked of a server about counters: a caller for each script.
#pragma once

#include "redis/node.hpp"
#include "store/redis/kinds.hpp"
#include "store/redis/request_slots.hpp"

#include <holdfast/counters.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace holdfast::redis {

/// What one request carries beside what it asks for.
struct remembered {
    request_slot where;
    duration memory;
};

/// What came of a change, and how many connections were told of it (below zero: that is denied).
struct changed {
    attempt seen;
    counter_answer what;
    std::int64_t receivers = 0;
};

// Arguments live until a request has completed.

asio::awaitable<attempt> take_permits(node&, const counter_ask&, remembered, server_deadline);
asio::awaitable<released> revoke_permits(node&, const counter_ask&, remembered);
asio::awaitable<attempt> look_at_latch(node&, const counter_ask&);
asio::awaitable<changed> change_counter(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_counter(node&, const lock_name&, counter_kind);

/// What a script calls it; and what it answers.
std::string_view word_of(counter_verb);
changed changed_in(const reply&);

/// As scripts are told what to do.
std::string_view word_of(counter_verb);

/// Where changes of such a counter are told.
channel_name channel_of(const lock_name&, counter_kind);

} // namespace holdfast::redis
