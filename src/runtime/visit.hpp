// SPDX-License-Identifier: Apache-2.0
// A calling thread that does its own work inside the monitor, instead of waking the background
// thread and being woken by it: two switches saved, which cost more than all the work.
#pragma once

#include "runtime/monitor.hpp"
#include "runtime/semaphore.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::runtime {

/// What a visitor waits for outside.
class interruptible {
public:
    /// Ends that wait, soon. Called inside, perhaps before it has begun.
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

/// Inside from its construction, if that succeeds, to its destruction; but for `outside`.
///
/// Only what is given to its own executor runs here: the one coroutine of the call. All else, a
/// user's handler first of all, goes to the background thread. What the coroutine leaves behind
/// when it sleeps is resumed there too.
class visit {
public:
    /// If the monitor welcomes visitors now, and this thread is not one already.
    explicit visit(monitor&);
    visit(const visit&) = delete;
    ~visit();

    explicit operator bool() const noexcept { return alone_.owns_lock(); }

    /// The calling thread's visit to that monitor, or null. It may visit others too: what runs on a
    /// visitor of one client may use another client.
    static visit* here(const monitor&) noexcept;

    asio::any_io_executor executor();

    /// Runs `work`, which waits for that, outside: others may enter meanwhile.
    template <typename Work>
    void outside(interruptible& what, Work work) {
        static_assert(noexcept(work()), "else a thread would be outside without knowing it");
        leave_for(what);
        work();
        come_back();
    }

    /// Somebody inside does not want what this thread waits for outside.
    void interrupt() noexcept;
    bool interrupted() const noexcept { return interrupted_; }

    /// This call only has something sent; whatever comes of it is heard in the background.
    void wait_for_nothing() noexcept { waits_ = false; }
    bool waits() const noexcept { return waits_; }

    /// It has been sent, from this thread.
    void note_sent_off() noexcept { sent_off_ = true; }
    bool sent_off() const noexcept { return sent_off_; }

    /// Wakes whoever waits there as soon as this thread has left, if only for a while: else that
    /// one would find it inside.
    void wake_behind(semaphore& ready, std::shared_ptr<void> keep);

    // Of its executor.
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
    visit* const outer_; // this thread's visit to another monitor, while this lasts
    bool waits_ = true;
    bool sent_off_ = false;
    bool interrupted_ = false;
    struct sleeper {
        semaphore* ready;
        std::shared_ptr<void> keep; // who is woken may be the last to know what it waited for
    };
    boost::container::small_vector<sleeper, 2> to_wake_;
    std::unique_lock<std::mutex> alone_;
    std::uint64_t number_ = 0;           // of all visits there ever were
    interruptible* waits_for_ = nullptr; // outside
    boost::container::small_vector<asio::any_completion_handler<void()>, 2> tasks_;
};

} // namespace holdfast::runtime
