// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "redis/client/resp.hpp"

#include <holdfast/inspection.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Maximum number of names in one script. The script then keeps the server as busy as a renewal of
/// the same number of holds.
inline constexpr std::size_t described_at_once_max = 100;

/// Returns the state of each name that exists. The states contain the descriptions of the clients.
asio::awaitable<std::vector<lock_state>> describe_locks(node&, std::vector<std::string> names);

/// Returns the state that the server's reply describes. Empty if the key does not exist any more.
/// No I/O.
std::optional<lock_state> lock_state_in(std::string name, const reply& told);

} // namespace holdfast::redis
