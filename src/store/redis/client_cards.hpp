// SPDX-License-Identifier: Apache-2.0
// Descriptions of clients. Each client writes a key about itself, so that tools can show who holds
// a lock (docs/protocol/client.md). The keys and arguments of these scripts appear in this unit
// only.
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

/// Returns the key with the description of the owner's client. Empty if the owner does not belong
/// to holdfast; a mark in the UUID shows that it does.
std::optional<std::string> client_key(std::string_view owner);
std::string client_key(const std::array<std::uint8_t, 16>& client);

/// Writes the description with the TTL `kept`. If `kept` is zero, deletes the key instead.
asio::awaitable<void> announce_client(node&, std::string key, client_card, duration kept);

/// Reads descriptions, in the order of the keys. An entry is empty if the client has written no
/// description, or if its server could not be asked.
asio::awaitable<std::vector<std::optional<client_card>>> read_clients(node&,
                                                                      std::vector<std::string>);

} // namespace holdfast::redis
