// SPDX-License-Identifier: Apache-2.0
// Contenders on MariaDB, besides those of arena.hpp.
#pragma once

#include "bench/contenders/arena.hpp"

namespace holdfast::bench {

// A free lock for each thread, which has its own session: the bare statements of ShedLock, and user
// locks (GET_LOCK), which have no lease and no token.
made shed_lock_threads(const arena&);
made user_lock_threads(const arena&);

// Our lock without wake-up notifications by user locks.
made holdfast_threads_without_bell(const arena&);

// Time from a release until a waiter that polls every 20 ms has the lock.
made shed_lock_wake_up(const arena&);

// Waiters for one lock that is held for the whole turn: each in its own client, and as a yardstick
// waiters that poll every 20 ms.
made holdfast_waiters(const arena&);
made shed_lock_waiters(const arena&);

} // namespace holdfast::bench
