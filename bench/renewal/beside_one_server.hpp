// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

namespace holdfast::bench {

/// What it costs to keep so many leases over several primaries, beside as many at one server. Both
/// are held at the same time, each by a client with a thread of its own: `NAME.client_cpu` is what
/// that thread used, `NAME.server_cpu` what all its servers did. Throws if a lease is lost, or if
/// the servers did not see every one of them renewed.
std::vector<figure> keep_beside_one_server(const shared_vigil&, const arena& of_several,
                                           const arena& of_one);

} // namespace holdfast::bench
