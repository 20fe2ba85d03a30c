// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Some slots and who serves them, in the words of one node.
struct slot_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    server_address primary{}; ///< no host: the node does not know where that one is
    std::vector<server_address> replicas{};
    std::string primary_id{};               ///< empty: not told (before 4.0)
    std::vector<std::string> replica_ids{}; ///< of `replicas`, in their order
};
using slot_ranges = std::vector<slot_range>;

/// Reads a reply to CLUSTER SLOTS. Where it names no host, it means the host that was asked. It may
/// name the path of a socket only if the node that was asked is reached by such a path (in tests).
/// Throws net::failure if the server refused the command or if the reply makes no sense.
slot_ranges read_slots(const reply&, const server_address& asked);

} // namespace holdfast::redis
