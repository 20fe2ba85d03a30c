// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/socket.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::redis {

/// What a server told of itself when a connection to it was made, which may all be denied; and
/// where it is.
struct introduction {
    net::stream_endpoint peer{};
    std::optional<std::chrono::microseconds> shown; ///< by its clock
    bool tells_role = false;                        ///< and it is no replica
    std::string run_id;                             ///< another after each start; empty: not told
    std::string node_id{};                          ///< in its cluster; empty: not told
    std::string replication_id;                     ///< of its data's history; empty: not told
    std::optional<std::chrono::seconds> uptime;
};

} // namespace holdfast::redis
