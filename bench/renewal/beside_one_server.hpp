// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

namespace holdfast::bench {

/// Measures the cost of many leases on several primaries, compared with the same number of leases
/// on one server. Both sides run at the same time. Each has a client with its own thread.
/// `NAME.client_cpu` is the CPU use of that thread. `NAME.server_cpu` is the CPU use of all servers
/// of a side. Throws if a lease is lost, or if the servers did not get a renewal of each lease.
std::vector<figure> keep_beside_one_server(const shared_vigil&, const arena& of_several,
                                           const arena& of_one);

} // namespace holdfast::bench
