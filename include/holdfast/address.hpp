// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// One of several servers.
struct server_address {
    std::string host{};     ///< name or address; a name that has several addresses stands for all
    std::uint16_t port = 0; ///< 0: the usual one

    friend bool operator==(const server_address&, const server_address&) = default;
};

} // namespace holdfast
