// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <string.h>

namespace holdfast::runtime {

/// Overwrites a secret in memory that is about to be freed, which a compiler would leave out as
/// something that nobody reads.
inline void wipe(std::span<char> bytes) noexcept {
    if (!bytes.empty())
        ::explicit_bzero(bytes.data(), bytes.size());
}

/// The same, and leaves it empty.
inline void wipe(std::string& text) noexcept {
    wipe(std::span<char>{text});
    text.clear();
}

} // namespace holdfast::runtime
