// SPDX-License-Identifier: Apache-2.0
// Name service that a test controls, for the names that the test sets and for this process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::support {

// Thread safety: each function.

/// Sets the IPv4 address of `host`. If empty, the name cannot be resolved for now.
void set_address(const std::string& host, const std::string& address);

/// Sets several addresses, in this order.
void set_addresses(const std::string& host, std::vector<std::string> addresses);

/// Returns how often the name was looked up since it was first set.
std::size_t look_ups_of(const std::string& host);

/// Makes look-ups of the name wait. `let_go` answers the next `times` look-ups.
void hold_back(const std::string& host);
void let_go(const std::string& host, std::size_t times = 1);

} // namespace holdfast::support
