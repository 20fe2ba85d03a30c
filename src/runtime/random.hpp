// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace holdfast::runtime {

/// 64 random bits a call, from a generator that each thread seeds from the kernel, anew after
/// fork(): two processes never draw the same identity. Thread-safe. Not for secrets.
std::function<std::uint64_t()> system_random();

} // namespace holdfast::runtime
