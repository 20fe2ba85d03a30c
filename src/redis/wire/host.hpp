// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Returns whether a server's reply may give this text as the host of another server. A host name
/// has at most 253 bytes and no spaces. It must not begin with `/`, because that is the path of a
/// local socket: any process that listens there would get the password.
bool is_host(std::string_view text);

/// Does the same as is_host(), but also allows a path if `asked`, the host that replied, is a path
/// too.
bool is_host_beside(std::string_view text, std::string_view asked);

/// Reads a port from 1 to 65535. The text must consist of digits only.
std::optional<std::uint16_t> read_port(std::string_view text);

/// Reads `host:port` as servers write it. An IPv6 address may have brackets. Without a host, the
/// result has the host that was asked.
std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked);

} // namespace holdfast::redis
