// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/server_clock.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::memory {

/// Returns the entry with this name, or null. First removes the entry if it has expired
/// (`ends_at`).
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

/// Returns whether the owner in `text` and the owner `owner` belong to the same client.
inline bool is_of_client(const std::string& text, const owner_id& owner) {
    const std::string one = to_string(owner);
    return text.starts_with(std::string_view{one}.substr(0, one.rfind(':') + 1));
}

} // namespace holdfast::memory
