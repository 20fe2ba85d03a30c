// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

#include <functional>

namespace holdfast::bench {

/// Measures how long a user's executor is blocked at most by the client on it. There are four
/// situations: the client works (`NAME.work`), its connections are closed again and again (`.cut`),
/// its server does not answer (`.silent`), or its server is down and comes back (`.dead`). The
/// yardstick is an executor that has nothing to do. Time that either thread waits for a core is not
/// counted. The result is the longest of all rounds. `progress` is called before each round. Throws
/// if the client does not work again after each trouble.
std::vector<figure> hold_standstill(const standstill&, int rounds,
                                    const std::function<void(int round)>& progress);

} // namespace holdfast::bench
