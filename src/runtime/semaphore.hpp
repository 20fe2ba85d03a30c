// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <cerrno>
#include <ctime>

#include <semaphore.h>

namespace holdfast::runtime {

/// The system's, which sleeps at once: std::binary_semaphore first yields a few times, which with
/// many threads that wait for each other takes the processor from whoever could go on.
class semaphore {
public:
    semaphore() noexcept { ::sem_init(&system_, 0, 0); }
    semaphore(const semaphore&) = delete;
    ~semaphore() { ::sem_destroy(&system_); }

    void post() noexcept { ::sem_post(&system_); }
    void wait() noexcept {
        while (::sem_wait(&system_) != 0) {
        } // interrupted by a signal
    }

    /// False: nobody posted for that long.
    bool wait_for(duration longest) noexcept {
        timespec until{};
        ::clock_gettime(CLOCK_MONOTONIC, &until);
        const auto seconds = std::chrono::floor<std::chrono::seconds>(longest);
        const std::chrono::nanoseconds rest = longest - seconds;
        if (seconds.count() > for_ever - until.tv_sec)
            return wait(), true;
        until.tv_sec += seconds.count();
        until.tv_nsec += rest.count();
        if (until.tv_nsec >= 1'000'000'000) {
            until.tv_nsec -= 1'000'000'000;
            ++until.tv_sec;
        }
        int failed = 0;
        do
            failed = ::sem_clockwait(&system_, CLOCK_MONOTONIC, &until);
        while (failed != 0 && errno == EINTR);
        return failed == 0;
    }

private:
    static constexpr std::time_t for_ever = 1'000'000'000; // seconds; the machine never ran so long

    sem_t system_;
};

} // namespace holdfast::runtime
