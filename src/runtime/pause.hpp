// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::runtime {

/// Tells the processor that this thread spins. The core's other hardware thread then runs faster.
inline void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace holdfast::runtime
