// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/failover/applicants.hpp"

#include <functional>

namespace holdfast::bench {

/// Lets a primary fail `rounds` times. Each time, one of its replicas is promoted. `NAME.promoted`
/// is the time until the promotion. `NAME.free` is the time from the promotion until a free lock is
/// granted. `NAME.waiter` is the time from the promotion until a lock is granted that was released
/// during the failover. Both are zero if the grant came before the promotion. `redissons` may be
/// null. `progress` is called before each round. Throws if anything but a lock call fails.
std::vector<figure> hold_failover(const failover&, realm&, applicants* redissons, int rounds,
                                  const std::function<void(int round)>& progress);

} // namespace holdfast::bench
