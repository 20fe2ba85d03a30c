// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <vector>

namespace holdfast::redis {

/// Some slots and who serves them, in the words of one node.
struct slot_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    server_address primary{}; ///< no host: the node does not know where that one is
    std::vector<server_address> replicas{};
};
using slot_ranges = std::vector<slot_range>;

/// An answer to CLUSTER SLOTS. A node that tells no host of another means the one that was asked.
/// Throws net::failure: what the server refused, or what makes no sense of what it told.
slot_ranges read_slots(const reply&, const server_address& asked);

} // namespace holdfast::redis
