// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/address.hpp>

#include <string_view>
#include <vector>

namespace holdfast::url {

/// Returns the port number. Throws if the text is not a port. The error does not show the text,
/// because it may be a password: redis://user:password has no host, so its password stands where
/// the port would be.
std::uint16_t read_port(const parts&, const std::string& text);

/// Returns the hosts of the URL, in order; a missing port is 0. Throws for an empty host and for a
/// URL without hosts; the error text shows `example`.
std::vector<server_address> servers_in(const parts&, std::string_view example);

} // namespace holdfast::url
