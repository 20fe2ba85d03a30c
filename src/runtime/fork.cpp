// SPDX-License-Identifier: Apache-2.0
#include "runtime/fork.hpp"

#include <atomic>

#include <pthread.h>

namespace holdfast::runtime {
namespace {

std::atomic<std::uint64_t> generation = 0;

} // namespace

std::uint64_t fork_generation() {
    static const int registered = pthread_atfork(
        nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
    (void)registered;
    return generation.load(std::memory_order_relaxed);
}

} // namespace holdfast::runtime
