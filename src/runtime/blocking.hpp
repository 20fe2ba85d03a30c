// SPDX-License-Identifier: Apache-2.0
// Classes with which a blocking call waits for a reply on a socket. A thread that runs its
// operation inside the monitor uses `outside_wait`. A call that has a socket for itself uses
// `answer_wait`.
#pragma once

#include "runtime/monitor.hpp"

#include <holdfast/time.hpp>

#include <atomic>
#include <chrono>

namespace holdfast::runtime {

/// Sleep of a calling thread, until data arrives on a socket or another thread interrupts the
/// sleep. An interruption does not close the connection, because other threads also use the
/// connection. After an interruption, the thread waits in another way.
class outside_wait final : public interruptible {
public:
    outside_wait() = default;
    outside_wait(const outside_wait&) = delete;
    ~outside_wait();

    /// Prepares a wait. Call this function inside the monitor before each wait. Returns false if
    /// the process has no file descriptors left; the thread must then wait in another way.
    bool prepare() noexcept;

    /// Waits until the socket is readable. Returns false if the wait was interrupted, or if
    /// `longest` has passed.
    bool until_readable(int socket, duration longest) const noexcept;

    void interrupt() noexcept override;

private:
    int nudge_ = -1; // eventfd that interrupts the wait; it is created for the first wait
    bool nudged_ = false;
};

/// Wait for a reply on a socket. The thread first checks the socket in a loop for a short time, and
/// then sleeps in poll(). The loop is faster, because the wake-up of a thread takes longer than
/// most replies, but the loop occupies a core. So the object uses the loop only if the options
/// allow it, if enough cores are free, and if replies usually arrive within the time of the loop.
/// The object measures the usual time until a reply.
///
/// Thread safety: any thread may call every function.
class answer_wait {
public:
    using microseconds = std::chrono::microseconds;

    /// Creates an object that polls for at most `longest`. If `longest` is zero, the object never
    /// polls.
    explicit answer_wait(microseconds longest);

    /// Waits until `arrived()` returns true. Calls `arrived()` in a loop at first, and later
    /// whenever data has arrived. Returns false if `arrived()` was not true within the time
    /// `timeout`.
    template <typename Arrived>
    bool wait(int socket, duration timeout, Arrived arrived) {
        const nanoseconds began = now();
        const waiter mine{*this};
        const bool in_time = poll(began, arrived) || sleep_for(socket, began + timeout, arrived);
        learn(now() - began);
        return in_time;
    }

private:
    using nanoseconds = std::chrono::nanoseconds;

    // Returns the time of a steady clock. Use it only to measure lengths of time.
    static nanoseconds now() noexcept;
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
    std::atomic<nanoseconds::rep> usual_ = 0; // usual time until a reply, in ns
};

} // namespace holdfast::runtime
