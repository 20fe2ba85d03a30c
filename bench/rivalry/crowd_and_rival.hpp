// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"
#include "bench/contenders/peer.hpp"

namespace holdfast::bench {

/// Returns a contender in which all threads of this process want one lock all the time, and `rival`
/// wants it now and then. It counts the hand-overs of these threads; its samples are the rival's
/// waits.
made crowd_and_rival(const arena&, peer& rival);

} // namespace holdfast::bench
