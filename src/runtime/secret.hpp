// SPDX-License-Identifier: Apache-2.0
// Functions that overwrite secrets in memory. The source file also has the class `secret`
// (holdfast/secret.hpp).
#pragma once

#include <span>
#include <string>

#include <string.h>

namespace holdfast::runtime {

/// Overwrites a secret in memory that is about to be freed. A compiler may remove an ordinary
/// write, because the program does not read the memory afterwards.
inline void wipe(std::span<char> bytes) noexcept {
    if (!bytes.empty())
        ::explicit_bzero(bytes.data(), bytes.size());
}

/// Overwrites a secret and empties the string.
inline void wipe(std::string& text) noexcept {
    wipe(std::span<char>{text});
    text.clear();
}

} // namespace holdfast::runtime
