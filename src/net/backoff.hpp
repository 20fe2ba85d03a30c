// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <algorithm>
#include <cstdint>

namespace holdfast::net {

/// Pauses between attempts to connect, with exponential backoff and jitter. Each pause is chosen at
/// random between `least` and three times the previous pause, but is never longer than `most`. So
/// clients that lost the same server at the same time do not reconnect at the same time.
class backoff {
public:
    backoff(duration least, duration most)
        : least_{std::max(least, duration{1})}
        , most_{std::max(most, least_)} {}

    duration next(std::uint64_t random) {
        const duration highest = std::min(most_, previous_ > most_ / 3 ? most_ : previous_ * 3);
        const auto choices = static_cast<std::uint64_t>((highest - least_).count()) + 1;
        previous_ = least_ + duration{static_cast<duration::rep>(random % choices)};
        return previous_;
    }

    void reset() { previous_ = least_; }

private:
    duration least_, most_;
    duration previous_ = least_;
};

} // namespace holdfast::net
