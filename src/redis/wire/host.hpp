// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Returns whether a server may name another one so. No host name is longer than 253 bytes, none
/// has a blank, and none begins with `/`: that would be the path of a local socket, and whatever
/// listens there would be told the password.
bool is_host(std::string_view text);

/// Returns the same, but allows a path if the server that names it is reached by a path itself.
bool is_host_beside(std::string_view text, std::string_view asked);

/// 1 to 65535, in digits alone.
std::optional<std::uint16_t> read_port(std::string_view text);

/// `host:port`, as servers write it: an IPv6 address with or without brackets. No host means the
/// one that was asked.
std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked);

} // namespace holdfast::redis
