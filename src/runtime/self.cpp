// SPDX-License-Identifier: Apache-2.0
#include "runtime/self.hpp"

#include <array>
#include <cerrno>
#include <climits>

#include <unistd.h>

namespace holdfast::runtime {

self this_process() {
    std::array<char, HOST_NAME_MAX + 1> host{};
    if (::gethostname(host.data(), HOST_NAME_MAX) != 0)
        host.front() = '\0';
    return {host.data(), ::getpid(), program_invocation_short_name};
}

} // namespace holdfast::runtime
