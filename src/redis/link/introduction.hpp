// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/socket.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Information that a server gave about itself during the handshake, and its address. The server
/// may refuse to give any part of it.
struct introduction {
    net::stream_endpoint peer{};
    std::optional<std::chrono::microseconds> shown; ///< time that the server's clock showed
    bool tells_role = false;                        ///< it replies to ROLE and is no replica
    /// Id of the server process, new after each start. Empty if unknown.
    std::string run_id;
    std::string node_id{};      ///< id of the node in its cluster; empty if unknown
    std::string replication_id; ///< id of the history of its data; empty if unknown
    std::optional<std::chrono::seconds> uptime;
};

} // namespace holdfast::redis
