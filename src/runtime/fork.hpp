// SPDX-License-Identifier: Apache-2.0
// After fork() the child has a copy of every object and none of the threads. Nothing of it may be
// touched: its sockets and timers are the parent's too.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::runtime {

/// How many forks this process descends from, counted from when the library was first used.
std::uint64_t fork_generation();

/// Never destroys what `object` points to: in a child, its destructors would reach into the parent.
template <typename T>
void leak(std::shared_ptr<T>&& object) {
    new std::shared_ptr<T>{std::move(object)}; // NOLINT: on purpose
}

} // namespace holdfast::runtime
