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

/// One script looks at no more, and stalls its server no longer than a renewal of as many does.
inline constexpr std::size_t described_at_once_max = 100;

/// What there is under each of these names, as long as there is something, and who the clients are
/// that hold it.
asio::awaitable<std::vector<lock_state>> describe_locks(node&, std::vector<std::string> names);

/// What the server told of one key; nothing if it is gone. No I/O.
std::optional<lock_state> lock_state_in(std::string name, const reply& told);

} // namespace holdfast::redis
