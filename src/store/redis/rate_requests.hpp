// SPDX-License-Identifier: Apache-2.0
// Requests about rate limiters: one function for each script.
#pragma once

#include "redis/node.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/kinds.hpp"

#include <holdfast/counters.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace holdfast::redis {

/// Returns the member that represents one draw in the set of draws. It contains the client, a
/// number, and the number of permits. While the member is in the set, a repeated request draws no
/// more permits.
std::string rate_member(const owner_id& request, std::int64_t permits, redisson_form);

// The arguments of these functions must live until the request has completed.

/// Draws permits. `memory` is the time for which a request is remembered; it limits the wait for
/// replicas.
asio::awaitable<attempt> take_rate(node&, const counter_ask&, duration memory, server_deadline);
asio::awaitable<released> give_back_rate(node&, const counter_ask&);
asio::awaitable<changed> change_rate(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_rate(node&, const lock_name&,
                                            const std::array<std::uint8_t, 16>& client);

} // namespace holdfast::redis
