// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/socket.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::redis {

/// What a server told about itself during the handshake, and its address. The server may refuse to
/// tell any of it.
struct introduction {
    net::stream_endpoint peer{};
    std::optional<std::chrono::microseconds> shown; ///< time on the server's clock
    bool tells_role = false;                        ///< it replies to ROLE, and is no replica
    /// Id of the server process, new after each start; empty: not told.
    std::string run_id;
    std::string node_id{};      ///< id of the node in its cluster; empty: not told
    std::string replication_id; ///< id of the history of its data; empty: not told
    std::optional<std::chrono::seconds> uptime;
};

} // namespace holdfast::redis
