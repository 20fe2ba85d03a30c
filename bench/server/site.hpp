// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/connection.hpp"
#include "bench/server/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {
class mariadb_server;
} // namespace holdfast::support

namespace holdfast::bench {

/// Servers of a contest that needs several servers or another store than Redis. They use TCP.
struct site {
    std::string url;                  ///< URL for `client`, without parameters
    std::vector<std::uint16_t> ports; ///< ports of all servers, the primaries first
    std::size_t primaries = 1;
    /// Creates the statistics if the servers are not Redis.
    std::function<std::unique_ptr<ledger>()> books{};
    support::mariadb_server* database = nullptr; ///< set if the server is MariaDB
};

/// Connects to a port on the loopback device. Throws if the connection is refused.
connection connect_to(std::uint16_t port);

std::vector<connection> connect_to_all(const site&);
std::vector<connection> connect_to_primaries(const site&);

} // namespace holdfast::bench
