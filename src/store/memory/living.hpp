// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/server_clock.hpp"

#include <holdfast/store.hpp>

namespace holdfast::memory {

/// What is kept under that name, or null. What is over (`ends_at`) goes before anybody looks.
template <typename Entries>
typename Entries::mapped_type* find_living(Entries& all, const lock_name& name,
                                           const server_clock& clock) {
    const auto found = all.find(name.text);
    if (found == all.end())
        return nullptr;
    if (!clock.is_over(found->second.ends_at))
        return &found->second;
    all.erase(found);
    return nullptr;
}

} // namespace holdfast::memory
