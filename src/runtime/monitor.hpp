// SPDX-License-Identifier: Apache-2.0
// Monitor (Hoare): only one thread at a time is inside, and only that thread uses the client's
// state. Usually the background thread is inside; it runs the functions that were posted to the
// executor. A calling thread can also enter the monitor (`inline_call`) instead of waking the
// background thread. The class `loop` is the background thread of a client.
#pragma once

#include "runtime/clock.hpp"
#include "runtime/process.hpp"

#include <holdfast/asio.hpp>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/container/small_vector.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace holdfast::runtime {

class inline_call;

class monitor {
public:
    explicit monitor(asio::io_context& background)
        : background_{background} {}
    monitor(const monitor&) = delete;

    /// Returns the executor of this monitor. Its functions run on the background thread, inside the
    /// monitor.
    asio::any_io_executor executor();

    /// Returns the monitor to which an executor belongs, or null if the executor does not belong to
    /// a monitor.
    static monitor* of(const asio::any_io_executor&);

    /// Returns whether the calling thread is the background thread.
    bool runs_here() const;

    /// Guard that counts an operation that will wake the background thread. One wake-up serves all
    /// operations that are ready. So if many operations are ready, it costs a caller less to wait
    /// for the wake-up than to enter the monitor.
    class load {
    public:
        explicit load(monitor* where) noexcept
            : where_{where} {
            if (where_)
                where_->load_.fetch_add(1, std::memory_order_relaxed);
        }
        load(const load&) = delete;
        ~load() {
            if (where_)
                where_->load_.fetch_sub(1, std::memory_order_relaxed);
        }

    private:
        monitor* const where_;
    };

    /// Sets the limit `load_max`: calling threads may enter the monitor while fewer operations than
    /// this limit are counted. With zero (the default), calling threads never enter.
    void welcome(std::size_t load_max) noexcept { load_max_ = load_max; }
    bool welcomes() const noexcept {
        return load_.load(std::memory_order_relaxed) < load_max_.load(std::memory_order_relaxed);
    }

    /// Returns the inline call that is inside the monitor. Returns null if the background thread is
    /// inside. Call the function only inside the monitor.
    inline_call* inline_caller() const noexcept { return inline_caller_; }

    /// Returns whether the calling thread is the background thread and is inside the monitor. A
    /// function that such a thread posts to the executor runs later, not at once.
    bool is_inside() const;

private:
    friend class runtime::inline_call;
    template <typename Inner>
    class entering;
    using plain_executor = entering<asio::io_context::executor_type>;

    class inside_guard;
    template <typename Function>
    void run(Function&);

    asio::io_context& background_;
    std::mutex mutex_;
    inline_call* inline_caller_ = nullptr; // inline call that holds `mutex_`
    std::atomic<std::size_t> load_ = 0;
    std::atomic<std::size_t> load_max_ = 0;
};

// Caller-runs executor: a calling thread runs its own operation inside the client's monitor,
// instead of waking the background thread. This saves two switches between threads, which cost more
// than the operation itself.

/// Wait of a calling thread outside the monitor, which other threads can end.
class interruptible {
public:
    /// Ends the wait soon. This function is called inside the monitor, and possibly before the wait
    /// has begun.
    virtual void interrupt() noexcept = 0;

protected:
    ~interruptible() = default;
};

/// Object that a calling thread has while it is inside a monitor; the thread is then called an
/// inline caller. If the constructor succeeds, the thread is inside until the destructor runs,
/// except while `run_outside()` waits.
///
/// The thread runs only the functions that are posted to the inline call's own executor: the
/// coroutine of its call. The background thread runs everything else, in particular the user's
/// handlers. If the coroutine sleeps when the inline call ends, the background thread resumes it.
class inline_call {
public:
    /// Enters the monitor. Does nothing if the monitor admits no calling threads now, or if this
    /// thread is inside already.
    explicit inline_call(monitor&);
    inline_call(const inline_call&) = delete;
    ~inline_call();

    explicit operator bool() const noexcept { return alone_.owns_lock(); }

    /// Returns the `inline_call` object of the calling thread for that monitor, or null. A thread
    /// may enter several monitors, because code inside one client's monitor may use another client.
    static inline_call* here(const monitor&) noexcept;

    asio::any_io_executor executor();

    /// Leaves the monitor, runs `work` outside, and enters the monitor again. Other threads may
    /// enter in the meantime; they can interrupt `work` through the object `what`.
    template <typename Work>
    void run_outside(interruptible& what, Work work) {
        static_assert(noexcept(work()), "else a thread would be outside without knowing it");
        leave_for(what);
        work();
        come_back();
    }

    /// Interrupts the wait outside the monitor, because the result of the wait is no longer needed.
    /// Call this function inside the monitor.
    void interrupt() noexcept;
    bool interrupted() const noexcept { return interrupted_; }

    /// Records that the caller waits only until the request is sent. The background thread handles
    /// the outcome.
    void wait_for_nothing() noexcept { waits_ = false; }
    bool waits() const noexcept { return waits_; }

    /// Records that this thread has sent the request.
    void note_sent_off() noexcept { sent_off_ = true; }
    bool sent_off() const noexcept { return sent_off_; }

    /// Posts the semaphore `ready` as soon as this thread has left the monitor, even if it leaves
    /// only for a short time. If `ready` were posted earlier, the woken thread would find the
    /// monitor occupied. `keep` stays alive until `ready` is posted.
    void wake_behind(semaphore& ready, std::shared_ptr<void> keep);

    // Functions for the executor of this inline call.
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
    inline_call* const outer_; // enclosing inline call of this thread, to another monitor
    bool waits_ = true;
    bool sent_off_ = false;
    bool interrupted_ = false;
    struct sleeper {
        semaphore* ready;
        // Keep the semaphore alive, because the woken thread may drop the last other reference to
        // it.
        std::shared_ptr<void> keep;
    };
    boost::container::small_vector<sleeper, 2> to_wake_;
    std::unique_lock<std::mutex> alone_;
    std::uint64_t number_ = 0;           // unique among all inline calls of the process
    interruptible* waits_for_ = nullptr; // current wait outside the monitor; null: none
    boost::container::small_vector<asio::any_completion_handler<void()>, 2> tasks_;
};

// Adapter that makes the monitor usable as an Asio executor.

/// Guard: while this object exists, the calling thread is marked as inside a monitor.
class monitor::inside_guard {
public:
    explicit inside_guard(const monitor& where) noexcept
        : before_{std::exchange(here(), &where)} {}
    inside_guard(const inside_guard&) = delete;
    ~inside_guard() { here() = before_; }

    /// Returns the monitor that the calling thread is inside, or null.
    static const monitor*& here() noexcept;

private:
    const monitor* const before_;
};

template <typename Function>
void monitor::run(Function& what) {
    if (inside_guard::here() == this)
        return what();
    const std::scoped_lock alone{mutex_};
    const inside_guard inside{*this};
    what();
}

/// Executor of a monitor. `Inner` is an executor of the background io_context, with any properties.
/// If `of_inline_call` is zero, functions run on the background thread. Otherwise it is the number
/// of an inline call, and the functions that this call's own thread submits run on that thread.
template <typename Inner>
class monitor::entering {
public:
    entering(monitor& where, const Inner& inner, std::uint64_t of_inline_call = 0) noexcept
        : monitor_{&where}
        , inner_{inner}
        , of_inline_call_{of_inline_call} {}

    monitor& where() const noexcept { return *monitor_; }
    bool of_inline_call() const noexcept { return of_inline_call_ != 0; }

    template <typename Function>
    void execute(Function&& what) const {
        const bool at_once =
            asio::query(inner_, asio::execution::blocking) == asio::execution::blocking.possibly;
        if (inline_call* const inline_caller = inline_call_here())
            return at_once ? what() : inline_caller->later(std::forward<Function>(what));
        if (at_once && inner_.running_in_this_thread())
            return monitor_->run(what);
        inner_.execute([where = monitor_, what = std::forward<Function>(what)]() mutable {
            where->run(what);
        });
    }

    bool operator==(const entering& other) const noexcept {
        return monitor_ == other.monitor_ && inner_ == other.inner_ &&
               of_inline_call_ == other.of_inline_call_;
    }

    // Passes queries for all other properties on to the executor of the io_context.
    template <typename Property>
    requires asio::can_query_v<const Inner&, Property>
    // The type that Asio returns may be const. NOLINTNEXTLINE(readability-const-return-type)
    decltype(auto) query(const Property& p) const noexcept { return asio::query(inner_, p); }

    template <typename Property>
    requires asio::can_require_v<const Inner&, Property>
    auto require(const Property& p) const noexcept { return wrap(asio::require(inner_, p)); }

    template <typename Property>
    requires asio::can_prefer_v<const Inner&, Property>
    auto prefer(const Property& p) const noexcept { return wrap(asio::prefer(inner_, p)); }

private:
    template <typename Changed>
    entering<std::decay_t<Changed>> wrap(const Changed& inner) const noexcept {
        return {*monitor_, inner, of_inline_call_};
    }

    inline_call* inline_call_here() const noexcept {
        inline_call* const here = of_inline_call_ == 0 ? nullptr : inline_call::here(*monitor_);
        return here && here->number() == of_inline_call_ ? here : nullptr;
    }

    monitor* monitor_;
    Inner inner_;
    std::uint64_t of_inline_call_;
};

// The background thread of a client, and the clock that runs on it.

/// Background thread that runs an io_context until this object is destroyed. The destructor waits
/// for the end of the thread. If a handler drops the last lease, the destructor runs on that thread
/// itself. In that case the destructor does not wait, and the thread ends later.
class loop {
public:
    loop();
    ~loop();
    loop(const loop&) = delete;

    asio::any_io_executor executor() const;
    clock& time() const;

private:
    struct inside;
    std::shared_ptr<inside> inside_; // shared with the thread
    std::thread thread_;
};

/// Returns whether the calling thread runs `executor` now, or runs its own operation inside the
/// executor's monitor. This works only for the executors of io_context and thread_pool, with or
/// without a strand.
bool runs_here(const asio::any_io_executor& executor);

/// Returns whether the calling thread is executing a function of `executor`. If it is, a posted
/// function runs later. If `executor` is a strand, it is not enough that the thread belongs to the
/// strand's thread pool.
bool is_inside(const asio::any_io_executor& executor);

} // namespace holdfast::runtime
