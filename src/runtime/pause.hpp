// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::runtime {

/// For a loop that waits for another core: leaves the rest of this one to its sibling.
inline void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace holdfast::runtime
