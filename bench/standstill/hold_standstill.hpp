// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

#include <functional>

namespace holdfast::bench {

/// Measures for how long the client blocks a user's executor. There are four situations: the client
/// works (`NAME.work`), its connections are closed repeatedly (`.cut`), its server does not reply
/// (`.silent`), or its server is down and comes back (`.dead`). The yardstick is an idle executor.
/// Time during which a thread waits for a core is subtracted. The result is the longest time of all
/// rounds. `progress` is called before each round. Throws if the client does not work again after a
/// situation.
std::vector<figure> hold_standstill(const standstill&, int rounds,
                                    const std::function<void(int round)>& progress);

} // namespace holdfast::bench
