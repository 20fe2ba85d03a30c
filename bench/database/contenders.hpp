// SPDX-License-Identifier: Apache-2.0
// Contenders that exist only on MariaDB.
#pragma once

#include "bench/contenders/arena.hpp"

namespace holdfast::bench {

// A free lock for each thread, which has its own session. The sides are ShedLock's statements and
// user locks (GET_LOCK). User locks have no lease and no token.
made shed_lock_threads(const arena&);
made user_lock_threads(const arena&);

// holdfast without wake-up notifications by user locks.
made holdfast_threads_without_bell(const arena&);

// Time from a release until a waiter that polls every 20 ms has the lock.
made shed_lock_wake_up(const arena&);

// Waiters for one lock that is held for the whole turn. Each holdfast waiter has its own client.
// The waiters of the yardstick poll every 20 ms.
made holdfast_waiters(const arena&);
made shed_lock_waiters(const arena&);

} // namespace holdfast::bench
