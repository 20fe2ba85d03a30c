// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

namespace holdfast::support {

/// Returns 40 random hexadecimal digits. Servers use this form for their names. The digits differ
/// in each test, so that a server of an earlier test is not confused with a new server.
inline std::string random_id() {
    thread_local std::mt19937_64 draw{std::random_device{}()};
    std::string id;
    while (id.size() < 40)
        id += "0123456789abcdef"[draw() % 16];
    return id;
}

} // namespace holdfast::support
