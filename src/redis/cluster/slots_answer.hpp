// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Range of slots and the nodes that serve it, according to one node.
struct slot_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    server_address primary{}; ///< its host is empty if the node does not know the primary's address
    std::vector<server_address> replicas{};
    std::string primary_id{};               ///< empty if the server did not tell it (before 4.0)
    std::vector<std::string> replica_ids{}; ///< ids of `replicas`, in the same order
};
using slot_ranges = std::vector<slot_range>;

/// Reads a reply to CLUSTER SLOTS. A node with an empty host is at the host that was asked. The
/// path of a unix socket is accepted only if the asked node is reached by a path too (in tests).
/// Throws net::failure if the server refused the command or the reply is malformed.
slot_ranges read_slots(const reply&, const server_address& asked);

} // namespace holdfast::redis
