// SPDX-License-Identifier: Apache-2.0
// Caller-runs executor. A calling thread runs its own operation inside the client's monitor instead
// of waking the background thread. This saves two thread switches, which cost more than the
// operation.
#pragma once

#include "runtime/monitor.hpp"
#include "runtime/semaphore.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::runtime {

/// Wait of a calling thread outside the monitor, which other threads can end.
class interruptible {
public:
    /// Ends the wait soon. Called inside the monitor, possibly before the wait has begun.
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

/// Stay of a calling thread inside a monitor. The thread is called a visitor. If the constructor
/// succeeds, the thread is inside until the destructor, except while `outside()` waits.
///
/// The thread runs only the functions that are posted to the visit's own executor: the coroutine of
/// its call. The background thread runs everything else, in particular the user's handlers. If the
/// coroutine sleeps when the visit ends, the background thread resumes it.
class visit {
public:
    /// Enters the monitor. Does not enter if the monitor admits no calling threads now, or if this
    /// thread is inside already.
    explicit visit(monitor&);
    visit(const visit&) = delete;
    ~visit();

    explicit operator bool() const noexcept { return alone_.owns_lock(); }

    /// Returns the visit of the calling thread to that monitor, or null. A thread may visit several
    /// monitors, because code inside one client's monitor may use another client.
    static visit* here(const monitor&) noexcept;

    asio::any_io_executor executor();

    /// Leaves the monitor, runs `work`, and enters the monitor again. `work` waits for `what`.
    /// Other threads may enter in the meantime.
    template <typename Work>
    void outside(interruptible& what, Work work) {
        static_assert(noexcept(work()), "else a thread would be outside without knowing it");
        leave_for(what);
        work();
        come_back();
    }

    /// Interrupts the wait outside the monitor, because its result is no longer wanted. Called
    /// inside the monitor.
    void interrupt() noexcept;
    bool interrupted() const noexcept { return interrupted_; }

    /// Declares that the caller only wants the request to be sent. The background thread handles
    /// the outcome.
    void wait_for_nothing() noexcept { waits_ = false; }
    bool waits() const noexcept { return waits_; }

    /// Records that this thread has sent the request.
    void note_sent_off() noexcept { sent_off_ = true; }
    bool sent_off() const noexcept { return sent_off_; }

    /// Posts `ready` as soon as this thread has left the monitor, even if it leaves only for a
    /// short time. If `ready` were posted earlier, the woken thread would find the monitor
    /// occupied. `keep` is kept alive until then.
    void wake_behind(semaphore& ready, std::shared_ptr<void> keep);

    // The next functions are for the executor of this visit.
    std::uint64_t number() const noexcept { return number_; }
    template <typename Function>
    void later(Function&& what) {
        tasks_.emplace_back(std::forward<Function>(what));
    }

private:
    void leave_for(interruptible&) noexcept;
    void come_back();
    void enter();
    void leave() noexcept;
    void wake() noexcept;

    monitor& monitor_;
    visit* const outer_; // enclosing visit of this thread, to another monitor
    bool waits_ = true;
    bool sent_off_ = false;
    bool interrupted_ = false;
    struct sleeper {
        semaphore* ready;
        // Keeps the semaphore alive, because the woken thread may drop the last other reference to
        // the semaphore.
        std::shared_ptr<void> keep;
    };
    boost::container::small_vector<sleeper, 2> to_wake_;
    std::unique_lock<std::mutex> alone_;
    std::uint64_t number_ = 0;           // unique among all visits of the process
    interruptible* waits_for_ = nullptr; // current wait outside the monitor; null: none
    boost::container::small_vector<asio::any_completion_handler<void()>, 2> tasks_;
};

} // namespace holdfast::runtime
