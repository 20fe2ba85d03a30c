// SPDX-License-Identifier: Apache-2.0
// A name service that a test has in its hand: for the names it gives here, and for this process.
#pragma once

#include <string>

namespace holdfast::chaos {

/// Thread-safe. From now on `host` has that IPv4 address; empty: it is not to be found, for now.
void set_address(const std::string& host, const std::string& address);

} // namespace holdfast::chaos
