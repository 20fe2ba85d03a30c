// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/server_clock.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::memory {

/// Returns the entry of that name, or null. An entry that has expired (`ends_at`) is removed first.
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

/// Returns whether the owner written as `text` belongs to the same client as `owner`.
inline bool is_of_client(const std::string& text, const owner_id& owner) {
    const std::string one = to_string(owner);
    return text.starts_with(std::string_view{one}.substr(0, one.rfind(':') + 1));
}

} // namespace holdfast::memory
