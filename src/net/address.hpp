// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/socket.hpp"

#include <holdfast/address.hpp>

#include <cstdint>
#include <string>

namespace holdfast::net {

/// Returns a server's address as text for messages: `db.internal:6379`, `[::1]:6379`, or for a
/// socket's path `unix:/run/redis.sock`.
std::string address_of(const std::string& unix_socket, const std::string& host, std::uint16_t port);
std::string address_of(const server_address&);

/// Returns the address of a TCP endpoint; empty for other endpoints.
std::string address_of(const stream_endpoint&);

} // namespace holdfast::net
