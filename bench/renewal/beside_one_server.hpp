// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

namespace holdfast::bench {

/// Measures the cost of many leases over several primaries, compared with as many leases on one
/// server. Both sides run at the same time, each with a client that has its own thread.
/// `NAME.client_cpu` is the CPU use of that thread, and `NAME.server_cpu` that of all servers of
/// the side. Throws if a lease is lost, or if the servers did not see each lease renewed.
std::vector<figure> keep_beside_one_server(const shared_vigil&, const arena& of_several,
                                           const arena& of_one);

} // namespace holdfast::bench
