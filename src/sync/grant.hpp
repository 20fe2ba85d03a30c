// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::sync {

/// What an acquisition brought, counted from when its request was sent.
struct grant {
    owner_id owner;
    time_point sent_at;
    duration term;
    std::uint64_t token;  ///< of a fenced lock, else 0
    std::uint32_t tokens; ///< it has so many, from `token` on
    /// An earlier request of the same owner, whose answer was lost, may be carried out until then:
    /// also after the release.
    time_point settled_at;
    std::optional<duration> left_before{}; ///< see answer
};

} // namespace holdfast::sync
