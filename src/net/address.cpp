// SPDX-License-Identifier: Apache-2.0
#include "net/address.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstring>

#include <sys/socket.h>

namespace holdfast::net {

std::string address_of(const std::string& unix_socket, const std::string& host,
                       std::uint16_t port) {
    if (!unix_socket.empty())
        return "unix:" + unix_socket;
    const bool bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
    return (bare_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string address_of(const server_address& of) {
    return address_of({}, of.host, of.port);
}

std::string address_of(const stream_endpoint& of) {
    const int family = of.data()->sa_family;
    if (family != AF_INET && family != AF_INET6)
        return {};
    asio::ip::tcp::endpoint same;
    std::memcpy(same.data(), of.data(), std::min(of.size(), same.capacity()));
    return address_of({}, same.address().to_string(), same.port());
}

} // namespace holdfast::net
