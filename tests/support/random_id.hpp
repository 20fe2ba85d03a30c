// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

namespace holdfast::support {

/// As servers name themselves: 40 hexadecimal digits. Not the same twice, for a server that is left
/// over from another test must not be taken for one of this.
inline std::string random_id() {
    thread_local std::mt19937_64 draw{std::random_device{}()};
    std::string id;
    while (id.size() < 40)
        id += "0123456789abcdef"[draw() % 16];
    return id;
}

} // namespace holdfast::support
