// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Returns whether a server may name this text as the host of another server. A host name has at
/// most 253 bytes and no spaces. It must not begin with `/`, because such a text is the path of a
/// local socket. Any process that listens at that socket would get the password.
bool is_host(std::string_view text);

/// Returns whether a server may name this text as a host; see is_host(). A path is also allowed if
/// `asked`, the host that replied, is a path.
bool is_host_beside(std::string_view text, std::string_view asked);

/// Reads a port from 1 to 65535. The text must consist of digits only.
std::optional<std::uint16_t> read_port(std::string_view text);

/// Reads `host:port` in the form that servers use. An IPv6 address may have brackets. If the text
/// has no host, the result has the host that was asked (`asked`).
std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked);

} // namespace holdfast::redis
