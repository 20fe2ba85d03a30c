// SPDX-License-Identifier: Apache-2.0
// A writer that waits while others read leaves a mark at the store: no new reader joins them then.
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>

namespace holdfast::remote {

/// Who would write on top of its read hold asks at least this often: Redisson's readers tell nobody
/// when they leave others behind.
inline constexpr duration upgrade_poll_bound{250};

struct mark_terms {
    duration lasts{};      ///< from the writer's last look on: longer than until its next
    duration head_start{}; ///< when nobody reads any more, readers are held back for so long
};

/// The head start is enough for the message to come and the request to go.
inline mark_terms terms_of_mark(duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    return {2 * poll_bound, std::max(head_start_min, 2 * round_trip)};
}

} // namespace holdfast::remote
