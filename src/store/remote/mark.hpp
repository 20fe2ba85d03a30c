// SPDX-License-Identifier: Apache-2.0
// A writer that waits while others read leaves a mark at the store: no new reader joins them then.
#pragma once

#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <algorithm>

namespace holdfast::remote {

/// Sets in a writer's ask for how long its mark lasts from this look on, which is longer than until
/// the next, and its head start: when nobody reads any more, readers are held back for so long. It
/// is enough for the message to come and the request to go. Other asks leave no mark.
inline void set_terms_of_mark(ask& want, duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    if (want.kind != lock_kind::write)
        return;
    want.outlasts = 2 * poll_bound;
    want.head_start = std::max(head_start_min, 2 * round_trip);
}

/// Whether that look may have left one.
inline bool may_be_marked(const ask& want, verdict said) {
    return want.kind == lock_kind::write && want.waits && said != verdict::granted;
}

/// Who would write on top of its read hold asks more often: Redisson's readers tell nobody when
/// they leave others behind.
inline duration poll_bound_of(const ask& want, duration usual) {
    constexpr duration of_an_upgrade{250};
    const bool upgrades = want.kind == lock_kind::write && want.under != 0;
    return upgrades ? std::min(usual, of_an_upgrade) : usual;
}

} // namespace holdfast::remote
