// SPDX-License-Identifier: Apache-2.0
#include "net/address.hpp"

namespace holdfast::net {

std::string address_of(const std::string& unix_socket, const std::string& host,
                       std::uint16_t port) {
    if (!unix_socket.empty())
        return "unix:" + unix_socket;
    const bool bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
    return (bare_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

} // namespace holdfast::net
