// SPDX-License-Identifier: Apache-2.0
// This clock has a separate file, because the program's metrics module needs only this clock of the
// core library.
#include <holdfast/time.hpp>

#include <time.h>

namespace holdfast {

boot_clock::time_point boot_clock::now() noexcept {
    timespec shown{};
    // The call cannot fail, because all supported Linux versions have this clock.
    ::clock_gettime(CLOCK_BOOTTIME, &shown);
    return time_point{std::chrono::seconds{shown.tv_sec} +
                      std::chrono::floor<duration>(std::chrono::nanoseconds{shown.tv_nsec})};
}

} // namespace holdfast
