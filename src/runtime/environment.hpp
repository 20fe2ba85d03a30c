// SPDX-License-Identifier: Apache-2.0
// Random bits from the kernel, and detection of fork(). The source file also reads the credentials
// from environment variables (holdfast/credentials.hpp).
#pragma once

#include <cstdint>
#include <functional>

namespace holdfast::runtime {

/// Returns a function that draws 64 random bits. Each thread has its own generator. The generator
/// is seeded from the kernel, and again after fork(), so two processes never draw the same
/// identity. The function is thread-safe. Do not use the bits for secrets.
std::function<std::uint64_t()> system_random();

// Detection of fork(). The child process has a copy of every object, but none of the threads. The
// child must not use the copied objects: their sockets and timers also belong to the parent, and
// their mutexes may be locked for ever.

/// Returns how many fork() calls separate this process from the process that first called this
/// function.
std::uint64_t fork_generation();

} // namespace holdfast::runtime
