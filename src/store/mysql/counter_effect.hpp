// SPDX-License-Identifier: Apache-2.0
// What a change makes of a number: no I/O.
#pragma once

#include <holdfast/counters.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::mysql {

/// A counter under its row's lock.
struct counter_now {
    std::optional<std::int64_t> value{}; ///< of permits: all, those held too; empty: there is none
    std::int64_t held = 0;               ///< permits
    bool that_permit_is_held = false;    ///< the one that the change names
};

/// What is to be written, and answered.
struct counter_effect {
    counter_answer said{};
    bool changes = false;                ///< the value
    std::optional<std::int64_t> value{}; ///< the new one; empty: the counter is gone, and its holds
    bool ends_permit = false;
    bool sets_lease = false;
};

counter_effect effect_of(const counter_change&, const counter_now&);

} // namespace holdfast::mysql
