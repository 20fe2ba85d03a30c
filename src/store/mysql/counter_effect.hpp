// SPDX-License-Identifier: Apache-2.0
// Computes what a change does to a counter. No I/O.
#pragma once

#include <holdfast/counters.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::mysql {

/// State of a counter while its row is locked.
struct counter_now {
    /// Value of the counter. For permits: the total, including held permits. Empty: the counter
    /// does not exist.
    std::optional<std::int64_t> value{};
    std::int64_t held = 0;            ///< number of permits that are held
    bool that_permit_is_held = false; ///< whether the permit in the request is held
};

/// Values to write, and the answer to the caller.
struct counter_effect {
    counter_answer said{};
    bool changes = false; ///< whether the value changes
    /// The new value; empty: the counter and its holds are deleted.
    std::optional<std::int64_t> value{};
    bool ends_permit = false;
    bool sets_lease = false;
};

counter_effect effect_of(const counter_change&, const counter_now&);

} // namespace holdfast::mysql
