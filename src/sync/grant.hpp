// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::sync {

/// Result of a successful acquisition. Its validity counts from `sent_at`, when the request was
/// sent.
struct grant {
    owner_id owner;
    time_point sent_at;
    duration term;
    std::uint64_t token;  ///< fencing token of a fenced lock, else 0
    std::uint32_t tokens; ///< number of consecutive tokens, from `token` on
    /// Time after which the store carries out no earlier request of this owner. Until then, an
    /// earlier request whose reply was lost may be carried out, even after the release.
    time_point settled_at;
    std::optional<duration> left_before{}; ///< see `answer::left_before`
};

} // namespace holdfast::sync
