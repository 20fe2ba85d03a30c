// SPDX-License-Identifier: Apache-2.0
// Who a client is: one key per client, which it writes and whoever asks reads
// (docs/protocol/client.md). Nobody else names their scripts' keys and arguments.
#pragma once

#include "redis/node.hpp"

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Where the client of that owner says who it is; nothing if it is none of ours, by its mark.
std::optional<std::string> client_key(std::string_view owner);
std::string client_key(const std::array<std::uint8_t, 16>& client);

/// Kept for that long, and for zero taken away.
asio::awaitable<void> announce_client(node&, std::string key, client_card, duration kept);

/// In the order of the keys. Nothing for a client that does not say who it is, or may not be asked.
asio::awaitable<std::vector<std::optional<client_card>>> read_clients(node&,
                                                                      std::vector<std::string>);

} // namespace holdfast::redis
