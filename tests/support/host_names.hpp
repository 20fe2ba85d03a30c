// SPDX-License-Identifier: Apache-2.0
// Host names that a test sets. They are valid in this process only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::support {

// Thread safety: any thread may call any function.

/// Sets the IPv4 address of `host`. With an empty address, lookups of the name fail.
void set_address(const std::string& host, const std::string& address);

/// Sets several addresses for `host`, in this order.
void set_addresses(const std::string& host, std::vector<std::string> addresses);

/// Returns the number of lookups of `host` since its address was first set.
std::size_t look_ups_of(const std::string& host);

/// Makes lookups of `host` wait. `let_go` lets the next `times` of them return.
void hold_back(const std::string& host);
void let_go(const std::string& host, std::size_t times = 1);

} // namespace holdfast::support
