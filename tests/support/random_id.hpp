// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

namespace holdfast::support {

/// Returns 40 hexadecimal digits, the form in which servers name themselves. It is different in
/// each test, so that a server left over from another test is not confused with a new one.
inline std::string random_id() {
    thread_local std::mt19937_64 draw{std::random_device{}()};
    std::string id;
    while (id.size() < 40)
        id += "0123456789abcdef"[draw() % 16];
    return id;
}

} // namespace holdfast::support
