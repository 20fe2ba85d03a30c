// SPDX-License-Identifier: Apache-2.0
// Mark of a waiting writer. The writer leaves the mark at the store while others read. While the
// mark lasts, no new reader gets the lock.
#pragma once

#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <algorithm>

namespace holdfast::remote {

/// Sets two durations in a writer's request. Other requests leave no mark and are not changed.
/// `outlasts` is the lifetime of the mark. It is longer than the time until the next request, which
/// renews the mark. `head_start` is the time for which new readers are held back after the last
/// reader has left. It is long enough for the notification to arrive and for the writer to send its
/// request.
inline void set_terms_of_mark(ask& want, duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    if (want.kind != lock_kind::write)
        return;
    want.outlasts = 2 * poll_bound;
    want.head_start = std::max(head_start_min, 2 * round_trip);
}

/// Returns whether the request may have left a mark. `said` is the verdict of its reply.
inline bool may_be_marked(const ask& want, verdict said) {
    return want.kind == lock_kind::write && want.waits && said != verdict::granted;
}

/// Returns the longest time until the next request of a waiter. It is shorter for a writer that
/// upgrades its own read hold, because a Redisson reader sends no notification while other readers
/// remain.
inline duration poll_bound_of(const ask& want, duration usual) {
    constexpr duration of_an_upgrade{250};
    const bool upgrades = want.kind == lock_kind::write && want.under != 0;
    return upgrades ? std::min(usual, of_an_upgrade) : usual;
}

} // namespace holdfast::remote
