// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::runtime {

/// What other machines' people would call this process.
struct self {
    std::string host;
    std::int64_t pid;
    std::string program; ///< without its folder
};

self this_process();

} // namespace holdfast::runtime
