// SPDX-License-Identifier: Apache-2.0
// Who takes part at MariaDB, beside those of arena.hpp.
#pragma once

#include "bench/contenders/arena.hpp"

namespace holdfast::bench {

// A free lock for each thread: the bare statements of ShedLock, and user locks (GET_LOCK), which
// have no lease and no token. A session each.
made shed_lock_threads(const arena&);
made user_lock_threads(const arena&);

// Ours, told not to use the bell.
made holdfast_threads_without_bell(const arena&);

// From a release to the entry of who asks again each 20 ms.
made shed_lock_wake_up(const arena&);

// So many who wait for one lock that is held for the whole turn, each in a client of its own; and
// as many who ask again each 20 ms.
made holdfast_waiters(const arena&);
made shed_lock_waiters(const arena&);

} // namespace holdfast::bench
