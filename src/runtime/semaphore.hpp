// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <cerrno>
#include <ctime>

#include <semaphore.h>

namespace holdfast::runtime {

/// POSIX semaphore. A thread that waits on it sleeps at once. With std::binary_semaphore, a thread
/// yields a few times before it sleeps. When many threads wait for each other, the yields take the
/// processor from threads that could work.
class semaphore {
public:
    semaphore() noexcept { ::sem_init(&system_, 0, 0); }
    semaphore(const semaphore&) = delete;
    ~semaphore() { ::sem_destroy(&system_); }

    void post() noexcept { ::sem_post(&system_); }
    void wait() noexcept {
        while (::sem_wait(&system_) != 0) {
        } // a signal interrupts sem_wait()
    }

    /// Waits for at most `longest`. Returns false if nobody posted in that time.
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
    // Practically infinite time in seconds (31 years).
    static constexpr std::time_t for_ever = 1'000'000'000;

    sem_t system_;
};

} // namespace holdfast::runtime
