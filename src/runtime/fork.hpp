// SPDX-License-Identifier: Apache-2.0
// After fork() the child has a copy of every object and none of the threads. Nothing of it may be
// touched: its sockets and timers are the parent's too, and its mutexes may be locked for ever.
#pragma once

#include <cstdint>

namespace holdfast::runtime {

/// How many forks this process descends from, counted from when the library was first used.
std::uint64_t fork_generation();

} // namespace holdfast::runtime
