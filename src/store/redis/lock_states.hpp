// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/inspection.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Largest number of names in one script. It keeps the server as busy as a renewal of as many
/// holds.
inline constexpr std::size_t described_at_once_max = 100;

/// Returns the state of each of these names that exists, with the descriptions of the clients.
asio::awaitable<std::vector<lock_state>> describe_locks(node&, std::vector<std::string> names);

/// Returns the state in the server's reply about one key; empty if the key is gone. No I/O.
std::optional<lock_state> lock_state_in(std::string name, const reply& told);

} // namespace holdfast::redis
