// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/address.hpp>

#include <string_view>
#include <vector>

namespace holdfast::url {

/// Refuses what is no port. Nothing of it is shown: in redis://user:password, without a host, it is
/// the password.
std::uint16_t read_port(const parts&, const std::string& text);

/// The hosts of the URL, in order; a port that is left out is 0. Refuses one that is empty, and a
/// URL without any, with `example`.
std::vector<server_address> servers_in(const parts&, std::string_view example);

} // namespace holdfast::url
