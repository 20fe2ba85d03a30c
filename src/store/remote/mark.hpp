// SPDX-License-Identifier: Apache-2.0
// Mark that a waiting writer leaves at the store while others read. While it lasts, no new reader
// joins them.
#pragma once

#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <algorithm>

namespace holdfast::remote {

/// Sets two terms in a writer's request; other requests leave no mark. `outlasts` is the lifetime
/// of the mark: longer than the time until the next request, which renews it. `head_start` is the
/// time for which new readers are held back after the last reader left. It is long enough for the
/// notification to arrive and for the writer's request to be sent.
inline void set_terms_of_mark(ask& want, duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    if (want.kind != lock_kind::write)
        return;
    want.outlasts = 2 * poll_bound;
    want.head_start = std::max(head_start_min, 2 * round_trip);
}

/// Returns whether that request may have left a mark.
inline bool may_be_marked(const ask& want, verdict said) {
    return want.kind == lock_kind::write && want.waits && said != verdict::granted;
}

/// Returns the poll bound for this request. A writer that upgrades its own read hold polls more
/// often, because a Redisson reader notifies nobody when other readers remain.
inline duration poll_bound_of(const ask& want, duration usual) {
    constexpr duration of_an_upgrade{250};
    const bool upgrades = want.kind == lock_kind::write && want.under != 0;
    return upgrades ? std::min(usual, of_an_upgrade) : usual;
}

} // namespace holdfast::remote
