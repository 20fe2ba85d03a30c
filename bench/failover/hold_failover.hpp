// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"
#include "bench/failover/applicants.hpp"

#include <functional>

namespace holdfast::bench {

/// So many times a primary fails, and one of its replicas takes its place. `NAME.promoted` is how
/// long the servers needed for that. From then on it is counted until a lock is granted that was
/// free (`NAME.free`), and until one is granted whose release fell into the failover
/// (`NAME.waiter`): zero, if it was granted before. Redisson's side may be null. `progress` is
/// called before each round. Throws if anything but a call for a lock fails.
std::vector<figure> hold_failover(const failover&, realm&, applicants* redissons, int rounds,
                                  const std::function<void(int round)>& progress);

} // namespace holdfast::bench
