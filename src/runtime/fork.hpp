// SPDX-License-Identifier: Apache-2.0
// Detection of fork(). The child process has a copy of every object and none of the threads. It
// must not use the copies: their sockets and timers belong to the parent too, and their mutexes may
// be locked for ever.
#pragma once

#include <cstdint>

namespace holdfast::runtime {

/// Returns how many forks lie between this process and the process that first called this function.
std::uint64_t fork_generation();

} // namespace holdfast::runtime
