// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/failover/applicants.hpp"

#include <functional>

namespace holdfast::bench {

/// Lets a primary fail `rounds` times; each time one of its replicas takes its place.
/// `NAME.promoted` is the time that the servers need for this. `NAME.free` is the time from then
/// until a free lock is granted. `NAME.waiter` is the time until a lock is granted that was
/// released during the failover. Both are zero if the lock was granted before the promotion.
/// Redisson's side may be null. `progress` is called before each round. Throws if anything but a
/// call for a lock fails.
std::vector<figure> hold_failover(const failover&, realm&, applicants* redissons, int rounds,
                                  const std::function<void(int round)>& progress);

} // namespace holdfast::bench
