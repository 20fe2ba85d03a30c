// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"
#include "bench/contenders/peer.hpp"

namespace holdfast::bench {

/// Returns a contender with many threads of this process that want one lock all the time. `rival`
/// is another process that wants the lock from time to time. The contender counts the hand-overs of
/// these threads. Its samples are the waits of `rival`.
made crowd_and_rival(const arena&, peer& rival);

} // namespace holdfast::bench
