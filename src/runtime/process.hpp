// SPDX-License-Identifier: Apache-2.0
// Description of this process, and tools for the library's threads: starting a thread, a semaphore,
// and the pause in a spin loop.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/time.hpp>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>

#include <semaphore.h>

namespace holdfast::runtime {

/// Description of this process, which users on other machines can read.
struct self {
    std::string host;
    std::int64_t pid;
    std::string program; ///< name of the program, without its folder
};

self this_process();

/// Starts a thread of the library. The thread is named "holdfast" and has every signal blocked,
/// because the program's own threads handle the signals.
std::thread start_thread(asio::any_completion_handler<void()> work);

/// POSIX semaphore, on which a waiting thread sleeps at once. std::binary_semaphore is not used,
/// because its threads yield a few times before they sleep. With many threads, these yields take
/// the processor from threads that could work.
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

    /// Waits until the semaphore is posted, but for at most `longest`. Returns false if the
    /// semaphore was not posted in this time.
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
    // Time in seconds that is practically infinite (31 years).
    static constexpr std::time_t for_ever = 1'000'000'000;

    sem_t system_;
};

/// Signals to the processor that this thread waits in a loop, so that the other hardware thread of
/// the core runs faster.
inline void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace holdfast::runtime
