// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/server/accounts.hpp"

#include <functional>

namespace holdfast::bench {

/// Measures the cost of many leases: `NAME.bytes` and `NAME.client_cpu` of this process,
/// `NAME.server_cpu`, and `NAME.delay`. Calls `progress` often with a text about the present step.
/// Throws if a lease is lost, or if the server did not get a renewal of each lease.
std::vector<figure> hold_vigil(const vigil&, const arena&, accounts&,
                               const std::function<void(const char*)>& progress);

} // namespace holdfast::bench
