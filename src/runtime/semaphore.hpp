// SPDX-License-Identifier: Apache-2.0
#pragma once

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

private:
    sem_t system_;
};

} // namespace holdfast::runtime
