// SPDX-License-Identifier: Apache-2.0
// Rate limit for the requests of one waiter. Any program may publish on the channel of a lock. The
// limit prevents that a flood of notifications causes a flood of requests.
#pragma once

#include "sync/lease_term.hpp"

#include <algorithm>

namespace holdfast::sync {

class look_pace {
public:
    /// Mean time between two requests during a flood of notifications.
    static constexpr duration between_looks{5};

    /// Number of requests that are sent without delay after a quiet time. Most waits need no more.
    static constexpr int prompt_looks = 4;

    /// Returns when the next request may be sent if a caller wants to send it at `now`.
    time_point next(time_point now) {
        const time_point at = std::max(now, paid_until_ - (prompt_looks - 1) * between_looks);
        paid_until_ = later(std::max(paid_until_, now), between_looks);
        return at;
    }

private:
    time_point paid_until_{}; // each request moves it later; it may lie in the future
};

} // namespace holdfast::sync
