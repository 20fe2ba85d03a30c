// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a socket of its own.
#pragma once

#include <holdfast/time.hpp>

#include <atomic>
#include <chrono>

namespace holdfast::runtime {

/// Asks again and again for a while before it sleeps, where that pays: to be woken costs more than
/// most answers take to come, but a thread that asks keeps a core from whoever else wants one. So
/// it must be allowed, there must be cores to spare, and answers must usually come in that time;
/// which is learnt from how long they take.
///
/// Thread safety: any.
class answer_wait {
public:
    using microseconds = std::chrono::microseconds;

    /// Polls for at most `longest`; zero: never.
    explicit answer_wait(microseconds longest);

    /// Until `arrived()` says true, which is asked when something has come, or may have. False:
    /// `patience` is over.
    template <typename Arrived>
    bool wait(int socket, duration patience, Arrived arrived) {
        const nanoseconds began = now();
        const waiter mine{*this};
        const bool in_time = poll(began, arrived) || sleep_for(socket, began + patience, arrived);
        learn(now() - began);
        return in_time;
    }

private:
    using nanoseconds = std::chrono::nanoseconds;

    static nanoseconds now() noexcept; // of a clock that only measures
    static void breathe() noexcept;
    static bool wait_readable(int socket, nanoseconds longest) noexcept;

    bool pays() const noexcept;
    void learn(nanoseconds taken) noexcept;

    template <typename Arrived>
    bool poll(nanoseconds began, Arrived& arrived) {
        while (pays() && now() - began < longest_) {
            if (arrived())
                return true;
            breathe();
        }
        return false;
    }

    template <typename Arrived>
    bool sleep_for(int socket, nanoseconds until, Arrived& arrived) {
        for (nanoseconds left; (left = until - now()) > nanoseconds::zero();)
            if (wait_readable(socket, left) && arrived())
                return true;
        return false;
    }

    class waiter {
    public:
        explicit waiter(answer_wait& all) noexcept
            : all_{all} {
            all_.waiting_.fetch_add(1, std::memory_order_relaxed);
        }
        waiter(const waiter&) = delete;
        ~waiter() { all_.waiting_.fetch_sub(1, std::memory_order_relaxed); }

    private:
        answer_wait& all_;
    };

    const nanoseconds longest_;
    const int cores_to_spare_;
    std::atomic<int> waiting_ = 0;
    std::atomic<nanoseconds::rep> usual_ = 0; // how long answers take, lately
};

} // namespace holdfast::runtime
