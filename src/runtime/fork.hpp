// SPDX-License-Identifier: Apache-2.0
// Detection of fork(). The child process has a copy of every object, but no copies of the threads.
// It must not use the copied objects: their sockets and timers belong to the parent too, and their
// mutexes may be locked for ever.
#pragma once

#include <cstdint>

namespace holdfast::runtime {

/// Returns the number of forks between the process that first called this function and this
/// process.
std::uint64_t fork_generation();

} // namespace holdfast::runtime
