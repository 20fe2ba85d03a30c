// SPDX-License-Identifier: Apache-2.0
// How often one waiter looks at the store, whatever rings it: anybody may publish on the channel
// of a lock, and a storm of messages must not become a storm of requests.
#pragma once

#include "sync/lease_term.hpp"

#include <algorithm>

namespace holdfast::sync {

class look_pace {
public:
    /// The mean distance of two looks while messages storm.
    static constexpr duration between_looks{5};

    /// So many looks after a quiet time come as soon as they are wanted: most waits need no more.
    static constexpr int prompt_looks = 4;

    /// When the look may be sent that is wanted now.
    time_point next(time_point now) {
        const time_point at = std::max(now, paid_until_ - (prompt_looks - 1) * between_looks);
        paid_until_ = later(std::max(paid_until_, now), between_looks);
        return at;
    }

private:
    time_point paid_until_{}; // each look costs a while, and some may be owed
};

} // namespace holdfast::sync
