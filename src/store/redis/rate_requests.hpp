// SPDX-License-Identifier: Apache-2.0
// What is asked of a server about rate limiters: a caller for each script.
#pragma once

#include "redis/node.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/kinds.hpp"

#include <holdfast/counters.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// What stands for one draw among those that count: who drew, and how many. It is the memory of the
/// request, too: as long as it counts, the same draws nothing more.
std::string rate_member(const owner_id& request, std::int64_t permits, redisson_form);

// Arguments live until a request has completed.

/// `memory`: how long a request is remembered.
asio::awaitable<attempt> take_rate(node&, const counter_ask&, duration memory, server_deadline);
asio::awaitable<released> give_back_rate(node&, const counter_ask&);
asio::awaitable<changed> change_rate(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_rate(node&, const lock_name&,
                                            const std::array<std::uint8_t, 16>& client);

} // namespace holdfast::redis
