// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contests.hpp"

#include <functional>

namespace holdfast::bench {

/// How long a user's executor stands still at most because of the client on it: while that works
/// (`NAME.work`), and while its connections are cut time and again (`.cut`), its server says
/// nothing (`.silent`), or is gone and comes back (`.dead`). Beside it there is an executor that
/// has nothing to do. What either waits for a core is not counted. The longest of all rounds.
/// `progress` is called before each. Throws if the client does not work again after each trouble.
std::vector<figure> hold_standstill(const standstill&, int rounds,
                                    const std::function<void(int round)>& progress);

} // namespace holdfast::bench
