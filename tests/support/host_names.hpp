// SPDX-License-Identifier: Apache-2.0
// A name service that a test has in its hand: for the names it gives here, and for this process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::support {

// Thread safety: each function.

/// From now on `host` has that IPv4 address; empty: it is not to be found, for now.
void set_address(const std::string& host, const std::string& address);

/// Several, in this order.
void set_addresses(const std::string& host, std::vector<std::string> addresses);

/// How often it was looked up since it was set first.
std::size_t look_ups_of(const std::string& host);

/// Whoever looks it up is answered only when the test says so: once for each time.
void hold_back(const std::string& host);
void let_go(const std::string& host, std::size_t times = 1);

} // namespace holdfast::support
