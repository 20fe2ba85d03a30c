// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/server_clock.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

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

/// `text` is an owner as it is written: whether it is of the same client.
inline bool is_of_client(const std::string& text, const owner_id& owner) {
    const std::string one = to_string(owner);
    return text.starts_with(std::string_view{one}.substr(0, one.rfind(':') + 1));
}

} // namespace holdfast::memory
