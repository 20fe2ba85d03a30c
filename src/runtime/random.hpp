// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace holdfast::runtime {

/// Returns a function that draws 64 random bits. Each thread has its own generator. The generator
/// is seeded from the kernel, and again after fork(), so two processes never draw the same
/// identity. Thread-safe. Not for secrets.
std::function<std::uint64_t()> system_random();

} // namespace holdfast::runtime
