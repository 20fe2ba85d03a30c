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

/// Servers of a contest with several servers. All of them use TCP.
struct site {
    std::string url;                  ///< as `client` takes it, without settings
    std::vector<std::uint16_t> ports; ///< of all servers, the primaries first
    std::size_t primaries = 1;
    /// Makes the statistics, if the servers are not Redis.
    std::function<std::unique_ptr<ledger>()> books{};
    support::mariadb_server* database = nullptr; ///< the server, if it is MariaDB
};

/// Connects on the loopback device. Throws if the connection is refused.
connection connect_to(std::uint16_t port);

std::vector<connection> connect_to_all(const site&);
std::vector<connection> connect_to_primaries(const site&);

} // namespace holdfast::bench
