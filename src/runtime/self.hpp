// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::runtime {

/// Description of this process for users on other machines.
struct self {
    std::string host;
    std::int64_t pid;
    std::string program; ///< name of the program, without its folder
};

self this_process();

} // namespace holdfast::runtime
