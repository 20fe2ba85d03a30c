// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Whether a server may name another so: no name of a host is longer, and none has a blank.
bool is_host(std::string_view text);

/// 1 to 65535, in digits alone.
std::optional<std::uint16_t> read_port(std::string_view text);

/// `host:port`, as servers write it: an IPv6 address with or without brackets. No host means the
/// one that was asked.
std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked);

} // namespace holdfast::redis
