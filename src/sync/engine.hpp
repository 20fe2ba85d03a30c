// SPDX-License-Identifier: Apache-2.0
// The core of a client (`engine`): its store, clock, local wait queues, renewal, and the number of
// pending operations. Use it on the executor only, unless a comment says that any thread may call a
// function. Other threads access the executor through the class `executor_access`.
#pragma once

#include "sync/acquisition.hpp"
#include "sync/gate.hpp"
#include "sync/renewal.hpp"
#include "sync/thread_table.hpp"

#include <holdfast/asio.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/post.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// An event that is reported later. This object has copies of the event's texts.
class deferred_event {
public:
    explicit deferred_event(const event& e)
        : event_{e}
        , name_{e.name, e.name_size}
        , text_{e.text ? e.text : "", e.text_size} {}

    /// Returns the stored event. The event is valid as long as this object lives and is not moved.
    event view() const {
        event e = event_;
        e.name = name_.data();
        e.text = event_.text ? text_.data() : nullptr;
        return e;
    }

private:
    event event_;
    std::string name_;
    std::string text_;
};

// Other threads use a client's executor only through the class `executor_access`, because the
// executor may be destroyed at any time. The access is closed before the executor is destroyed.

/// Thread-safe access to an executor that may be destroyed. Any thread may call every function.
class executor_access {
public:
    /// Creates the access. `lasting` is true if the executor lives as long as its client. A caller
    /// that keeps the client alive then needs no mutex.
    executor_access(asio::any_io_executor to, bool lasting)
        : lasting_{lasting}
        , to_{std::move(to)} {}
    executor_access(const executor_access&) = delete;

    bool lasting() const noexcept { return lasting_; }

    /// Calls `work(executor)`. The executor stays alive during this call. Returns false, and does
    /// not call `work`, if the executor has ended. The caller must keep the client alive.
    template <typename Work>
    bool use(Work&& work) const {
        if (!lasting_)
            return use_guarded(std::forward<Work>(work));
        if (closed_)
            return false;
        std::forward<Work>(work)(to_);
        return true;
    }

    /// Posts `what` to the executor. Returns false if the executor has ended. In this case, and if
    /// the execution context ends before it runs `what`, `what` is destroyed without a call.
    template <typename What>
    bool post(What&& what) const {
        return use(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// Posts work as post() does, but the caller need not keep the client alive during the call.
    template <typename What>
    bool post_from_afar(What&& what) const {
        return use_guarded(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// Returns whether this object and the other object give access to the same executor. If so,
    /// code that runs on the executor may use both clients.
    bool leads_where(const executor_access& other) const {
        if (this == &other)
            return true;
        if (lasting_ || other.lasting_)
            return false; // each of the two clients has its own thread
        const std::scoped_lock guard{mutex_, other.mutex_};
        return to_ && other.to_ && to_ == other.to_;
    }

    /// Returns a stop token that is stopped when the client stops using the executor. Threads that
    /// wait for work on the executor must then stop waiting.
    std::stop_token ends() const { return ends_.get_token(); }
    bool ended() const noexcept { return ends_.stop_requested(); }

    /// Closes the access. After this function returns, no other thread uses the executor.
    void close() noexcept {
        const std::scoped_lock guard{mutex_};
        closed_ = true;
        if (!lasting_)
            to_ = {};
    }

    /// Closes the access, and wakes the threads that wait for the executor.
    void end() noexcept {
        close();
        ends_.request_stop();
    }

private:
    template <typename Work>
    bool use_guarded(Work&& work) const {
        const std::scoped_lock guard{mutex_};
        if (closed_)
            return false;
        std::forward<Work>(work)(to_);
        return true;
    }

    const bool lasting_;
    mutable std::mutex mutex_;
    asio::any_io_executor to_;
    std::atomic<bool> closed_ = false;
    std::stop_source ends_;
};

/// Numbers of objects that an engine still has. The simulation checks that all of them are zero
/// when no operation is pending.
struct leftovers {
    std::size_t gates, waiters, holds, tasks;
};

/// Objects that an engine gets from its creator: executor, clock and hooks.
struct engine_environment {
    asio::any_io_executor executor;
    clock& time;
    /// Objects that must live as long as the engine: event loop and clock.
    std::shared_ptr<void> keeps{};
    std::function<bool()> forked{}; ///< returns whether this process is a child of fork()
    /// Returns whether the current thread is borrowed: a caller's thread that runs its own
    /// operation on this engine. A borrowed thread must not run the user's handlers, observers or
    /// stop callbacks.
    std::function<bool()> borrowed{};
    bool own_thread = false; ///< the client owns the executor, which lives as long as the engine
    bool own_clock = false;  ///< the client owns the clock, which lives as long as the engine
};

class engine : public std::enable_shared_from_this<engine> {
public:
    /// Creates an engine. `options::store` and `options::random` must be set.
    engine(engine_environment, options);
    ~engine();

    // Any thread may call the functions from now() to closed().

    /// Returns the current time. After a close has completed, the result stays the same, because a
    /// user's clock may be destroyed.
    time_point now() const noexcept {
        return around_.own_clock ? around_.time.now() : users_time();
    }
    /// Returns by how much the clock can be behind the true time, because the clock rounds down.
    /// The engine adds this amount to each deadline, so that no call ends before its timeout.
    duration clock_rounding() const noexcept { return duration{around_.own_clock ? 1 : 0}; }
    const options& how() const noexcept { return how_; }
    duration unavailable_timeout() const noexcept { return unavailable_timeout_; }
    /// Returns whether another server can take over when a server dies (Sentinels, a cluster).
    bool expects_failover() const noexcept { return bounds_.usual_outage > limits{}.usual_outage; }
    /// Returns the executor. Use it only in code that runs on the executor, or to begin an
    /// asynchronous call. All other code uses `executor_access()`.
    const asio::any_io_executor& executor() const noexcept { return around_.executor; }
    const std::array<std::uint8_t, 16>& identity() const noexcept { return identity_; }
    const std::shared_ptr<thread_table>& threads() const noexcept { return threads_; }
    /// Calls `ask(store)`. The store stays alive during this call. Returns false, and does not call
    /// `ask`, if the store was destroyed together with the executor.
    template <typename Ask>
    bool ask_store(Ask&& ask) const {
        const std::scoped_lock guard{store_mutex_};
        if (!store_)
            return false;
        std::forward<Ask>(ask)(*store_);
        return true;
    }
    /// Returns whether the executor and the store were destroyed.
    bool gone() const noexcept { return gone_; }
    const limits& bounds() const noexcept {
        return bounds_;
    } ///< limits of the store; valid even after the store was destroyed
    /// Returns the thread-safe access to the executor, for threads that do not run it.
    sync::executor_access& executor_access() const noexcept { return *executor_access_; }
    bool forked() const { return around_.forked && around_.forked(); }
    bool borrowed() const { return around_.borrowed && around_.borrowed(); }
    bool closing() const noexcept { return closing_; }
    /// Returns a stop token whose stop is requested when closing begins. The stop is requested on
    /// the executor.
    std::stop_token closes() const noexcept { return closes_.get_token(); }
    bool stopped() const noexcept { return stopped_; }
    /// Returns whether this engine has stopped using the executor and the clock.
    bool closed() const noexcept { return closed_; }

    clock& time() noexcept { return around_.time; }
    lock_store& locks() noexcept { return store_->locks(); }
    counter_store* counters() noexcept { return store_->counters(); }
    inspector& operators_view() noexcept { return store_->operators_view(); }
    /// Returns the store's interface for wishes. Returns null if the store has no wishes.
    wish_store* wishes() noexcept { return store_->wishes(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) {
        return store_->examine(std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up_store() { return store_->set_up(); }
    server_identity server_of(const lock_name& name) const { return store_->identity(name); }
    gates& queues() noexcept { return gates_; }
    call_timeouts& timeouts() noexcept { return timeouts_; }
    renewal& renewals() noexcept { return renewal_; }

    /// Returns the mutex that guards the state of a hold. Several holds share a mutex, to save
    /// memory: a client may have a hundred thousand holds.
    std::mutex& mutex_for(const held_lock* held) noexcept {
        return mutexes_[(reinterpret_cast<std::uintptr_t>(held) / alignof(std::max_align_t)) %
                        mutexes_.size()];
    }

    /// Reserves `numbers` consecutive owner numbers, and returns the first. A number is never used
    /// again.
    owner_id new_owner_id(std::uint32_t numbers = 1);
    duration jitter(duration up_to);
    void spawn(asio::awaitable<void> work) { spawn(std::move(work), executor()); }
    /// Starts a coroutine on the executor `where`. This is the client's executor, or the executor
    /// of a caller's thread that runs its own operation.
    void spawn(asio::awaitable<void> work, const asio::any_io_executor& where);

    /// Starts a call. If too many calls wait or the client closes, the call is completed with an
    /// error at once. If the call need not wait in a queue, it runs on `where`; see spawn().
    void start(const std::shared_ptr<acquisition>&, const asio::any_io_executor& where);
    void start(const std::shared_ptr<acquisition>& call) { start(call, executor()); }
    /// Registers a call, so that close() ends it. If the client closes or too many calls wait,
    /// completes the call with an error at once and returns false.
    bool take_up(acquisition&);
    void acquisition_over(acquisition&);
    /// Starts the first queued call for this lock name, if `gate::admits()` allows it.
    void next_turn(gate_key, gate&);
    void found_busy(acquisition&); ///< records a "busy" reply; the next call may send
    /// Lets readers start that waited behind another call, after that call has left the queue
    /// without being started.
    void left_queue(const acquisition&);
    /// Completes a queued call whose timeout has passed. The result is "busy", or an error if the
    /// store has not replied to the call in front. A call that waits for a latch sends one last
    /// request instead, because no reply to another call says whether the latch is open at this
    /// moment.
    void out_of_timeout(acquisition&);
    /// Records that fewer callers share a hold. A call that waits for exclusive access may now be
    /// able to send its request.
    void fewer_share(const held_lock&);

    // Ends a lost hold. The parameter is an owning pointer, because renewal::forget() may drop the
    // last other reference to the hold during this call.
    void hold_lost(std::shared_ptr<held_lock>, event_cause);
    /// Records that the store has acknowledged the release.
    void released(const held_lock&, bool others_listen);
    /// Removes a hold from this client, although the store still has it (`lease::detach()`).
    void detached(const held_lock&);
    /// Removes the ended hold from its local wait queue, so that the next call in the queue can
    /// start.
    void hold_over(const held_lock&);
    /// Lets the next queued call start after the release was sent, without waiting until the
    /// release is acknowledged. A call of hold_over() or released() must follow.
    void release_sent_off(const held_lock&);
    asio::awaitable<bool> force_unlock(lock_name, std::string only_from = {});
    asio::awaitable<bool> force_kind(lock_name, lock_kind);
    /// Marks the hold as abandoned: the thread that should have released the hold has ended.
    void abandon(const std::shared_ptr<held_lock>&);
    /// Keeps an abandoned hold on several locks until the hold ends, because no local wait queue
    /// keeps a hold on several locks.
    void keep(std::shared_ptr<lock_handle> abandoned) { kept_.push_back(std::move(abandoned)); }
    void keep_no_more(const lock_handle& ended);

    void tell(const event&);
    /// Reports an event of a hold to the observer, unless the observer already knows that the hold
    /// is lost.
    void tell_of(const held_lock&, event_kind, event_cause, duration,
                 const boost::system::system_error* = nullptr);
    /// Reports an event of a hold on several locks.
    void tell_of(const lock_handle&, event_kind, event_cause, duration, const failure& = {});
    /// Reports to the observer that a counter granted the call.
    void tell_of_count(const acquisition&);
    /// Reports a loss to the observer, but only once for each hold: close() reports the loss before
    /// the hold ends, and the end of the hold must not report the loss again.
    void tell_lost(held_lock&, event_cause);
    void tell_of_wait(const acquisition&, event_cause, const failure&);
    /// Reports that the call begins to wait, but only once for each call. Does nothing if the call
    /// may not wait.
    void tell_waiting(acquisition&);
    /// Reports that the call got a share of a hold that this client has.
    void tell_joined(const acquisition&, const held_lock&);

    /// Sleeps until the given time. The sleep ends early when the engine stops.
    asio::awaitable<void> nap(time_point until);
    asio::awaitable<void> nap(alarm&, time_point until);

    /// Guard of an operation that `close()` waits for. `close()` waits at most for `close_timeout`,
    /// or for `release_timeout` if the operation is a release. Then `close()` closes the store, and
    /// waits a short time until the operation has ended.
    class task {
    public:
        explicit task(engine& e)
            : engine_{e} {
            ++engine_.tasks_;
        }
        ~task() {
            --engine_.tasks_;
            engine_.unpromising_ -= unpromising_;
            engine_.ring_if_quiet();
        }
        task(const task&) = delete;

        /// Records that `close()` need not wait for this operation, because the server refused the
        /// operation. The operation itself continues.
        void expect_nothing() {
            engine_.unpromising_ += !std::exchange(unpromising_, true);
            engine_.ring_if_quiet();
        }

    private:
        engine& engine_;
        bool unpromising_ = false;
    };

    /// Guard of a background loop of the engine. `close()` first stops the engine, and this ends
    /// the loops. Then `close()` waits until all loops have ended, because a loop uses the client's
    /// clock, which the user may destroy after `close()`.
    class loop {
    public:
        explicit loop(engine& e)
            : engine_{e} {
            ++engine_.loops_;
        }
        ~loop() {
            --engine_.loops_;
            engine_.ring_if_quiet();
        }
        loop(const loop&) = delete;

    private:
        engine& engine_;
    };

    /// Drops all holds. Also drops the handlers of a pending close, without calling them. Call this
    /// function when the executor runs no more code. Otherwise the holds and the engine would never
    /// be freed, because a hold and the engine keep each other alive.
    void executor_ended();
    void executor_ends() noexcept; ///< call it before the sleeping operations are destroyed
    /// Destroys everything that must not outlive the execution context: the executor, and the store
    /// with its sockets.
    void executor_gone();

    using closed_handler = asio::any_completion_handler<void()>;
    /// Implements client::async_close. The handler runs on the executor.
    void close(closed_handler);
    leftovers left() const;
    /// Returns the holds and the waiting calls that began at `began_by` or earlier. See
    /// `store_context::activity`.
    client_activity activity(time_point began_by, activity_limits) const;

private:
    time_point users_time() const noexcept;
    asio::awaitable<void> let_go_of_clock();
    void admit(const std::shared_ptr<acquisition>&, const asio::any_io_executor& where);
    void give_up_behind(acquisition&, const gate&);
    void admit_later(const std::shared_ptr<acquisition>&);
    bool let_in(gate&, acquisition* next);
    asio::awaitable<bool> force(lock_name, asio::awaitable<forced>);
    asio::awaitable<void> close_down();
    void fail_waiters();
    void ring_if_quiet();
    std::shared_ptr<void> store_at_work();
    void revalidate(const std::function<bool(const lock_name&)>& which, bool urgent);
    bool quiet() const { return tasks_ == unpromising_ && renewal_.idle(); }
    bool all_ended() const { return tasks_ == 0 && loops_ == 0 && naps_.empty(); }
    asio::awaitable<void> wait_until_quiet(duration timeout);
    void let_go();
    asio::awaitable<void> stop();
    void tell_untold();

    engine_environment around_; // first member: it outlives the others
    const options how_;
    const std::array<std::uint8_t, 16> identity_;
    const std::shared_ptr<thread_table> threads_;
    const std::shared_ptr<sync::executor_access> executor_access_;
    mutable std::mutex store_mutex_; // held while a thread outside the executor uses the store
    std::unique_ptr<store> store_;
    limits bounds_;
    duration unavailable_timeout_;
    gates gates_;
    renewal renewal_;
    call_timeouts timeouts_;
    acquisition::list calls_;
    std::size_t calls_count_ = 0;
    std::size_t tasks_ = 0;
    std::size_t unpromising_ = 0; // number of tasks that close() does not wait for
    std::size_t loops_ = 0;       // number of background loops, including the loops of the store
    std::uint64_t last_number_ = 0;
    bool has_detached_ = false; // true: the store may have a hold that this client has detached
    std::list<alarm*> naps_;    // in the order of their start, so that a simulation is repeatable
    std::vector<std::shared_ptr<lock_handle>> kept_;
    std::unique_ptr<alarm> quiet_;
    std::vector<closed_handler> closers_;
    // Events that wait to be reported, in their order. The first of them occurred on a caller's
    // thread that ran its own operation and must not call the observer.
    std::deque<deferred_event> untold_;
    std::array<std::mutex, 16> mutexes_;
    std::stop_source closes_;
    std::atomic<bool> closing_ = false;
    std::atomic<bool> stopped_ = false;
    std::atomic<time_point> closed_at_ = time_point::max();
    mutable std::atomic<int> clock_readers_ = 0; // number of threads that are inside a user's clock
    std::atomic<bool> closed_ = false;
    std::atomic<bool> gone_ = false;
    // Background loops of the store hold a weak pointer to this member, to check whether the engine
    // is alive. This is the engine's last member, so it is destroyed first.
    std::shared_ptr<void> alive_ = std::make_shared<char>();
};

// Calls of the user's handlers. The handlers run inside functions of this library, and may throw.

/// Runs a handler of the user. If the handler throws, the exception does not interrupt the
/// library's code that called the handler. Instead, the executor's run function throws the
/// exception later, as usual with Asio.
template <typename Handler>
void run_users_own(const asio::any_io_executor& executor, Handler&& handler) {
    try {
        std::forward<Handler>(handler)();
    } catch (...) {
        auto throw_again = [thrown = std::current_exception()] { std::rethrow_exception(thrown); };
        asio::post(executor, std::move(throw_again));
    }
}

} // namespace holdfast::sync
