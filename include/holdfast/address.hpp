// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// Address of a server.
struct server_address {
    std::string host{};     ///< name or IP address; a name may resolve to several addresses
    std::uint16_t port = 0; ///< port number; 0: the default port of the store

    friend bool operator==(const server_address&, const server_address&) = default;
};

} // namespace holdfast
