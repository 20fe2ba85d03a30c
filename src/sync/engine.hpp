// SPDX-License-Identifier: Apache-2.0
// The core of a client: store, clock, gates, renewal, and a count of pending operations. Use it on
// the executor only, except where a comment says otherwise.
#pragma once

#include "sync/acquisition.hpp"
#include "sync/gates.hpp"
#include "sync/kept_event.hpp"
#include "sync/patience.hpp"
#include "sync/reach.hpp"
#include "sync/renewal.hpp"
#include "sync/thread_table.hpp"

#include <holdfast/options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Counts of what is left in an engine. All are zero when nothing is pending (the simulation checks
/// it).
struct residue {
    std::size_t gates, waiters, holds, tasks;
};

/// The environment that an engine is created with.
struct surroundings {
    asio::any_io_executor executor;
    clock& time;
    std::shared_ptr<void> keeps{};  ///< what must live as long as the engine: loop and clock
    std::function<bool()> forked{}; ///< whether this process is a forked child
    /// Returns whether the current thread belongs to a caller that runs its own operation here.
    /// Such a thread must not run the user's handlers, observers or stop callbacks.
    std::function<bool()> borrowed{};
    bool own_thread = false; ///< the client owns the executor, which lives as long as the engine
    bool own_clock = false;  ///< the same for the clock
};

class engine : public std::enable_shared_from_this<engine> {
public:
    /// `options::store` and `options::random` must be set.
    engine(surroundings, options);
    ~engine();

    // Any thread may call these.
    /// Returns the time. After a close has completed, a user's clock may be gone; then the time
    /// stands still.
    time_point now() const noexcept {
        return around_.own_clock ? around_.time.now() : users_time();
    }
    /// Returns how far the clock may be behind the true time, because it is rounded down. Each
    /// deadline is later by that much, so that no call gives up too early.
    duration clock_rounding() const noexcept { return duration{around_.own_clock ? 1 : 0}; }
    const options& how() const noexcept { return how_; }
    duration unavailable_patience() const noexcept { return unavailable_patience_; }
    /// Returns the executor. For code that runs on it, or that begins an asynchronous call. All
    /// other code uses `reach()`.
    const asio::any_io_executor& executor() const noexcept { return around_.executor; }
    const std::array<std::uint8_t, 16>& identity() const noexcept { return identity_; }
    const std::shared_ptr<thread_table>& threads() const noexcept { return threads_; }
    /// Calls `ask(store)` and keeps the store from being destroyed meanwhile. False: the store and
    /// the executor are gone.
    template <typename Ask>
    bool ask_store(Ask&& ask) const {
        const std::scoped_lock guard{store_mutex_};
        if (!store_)
            return false;
        std::forward<Ask>(ask)(*store_);
        return true;
    }
    /// Returns whether the executor was destroyed, and the store with it.
    bool gone() const noexcept { return gone_; }
    const limits& bounds() const noexcept {
        return bounds_;
    } ///< limits of the store; valid also when the store is gone
    /// Returns the safe way to the executor, for threads that do not run it.
    sync::reach& reach() const noexcept { return *reach_; }
    bool forked() const { return around_.forked && around_.forked(); }
    bool borrowed() const { return around_.borrowed && around_.borrowed(); }
    bool closing() const noexcept { return closing_; }
    /// Returns a token that is stopped, on the executor, when closing begins.
    std::stop_token closes() const noexcept { return closes_.get_token(); }
    bool stopped() const noexcept { return stopped_; }
    /// Returns whether nothing of this engine uses the executor or the clock any more.
    bool closed() const noexcept { return closed_; }

    clock& time() noexcept { return around_.time; }
    lock_store& locks() noexcept { return store_->locks(); }
    counter_store* counters() noexcept { return store_->counters(); }
    inspector& operators_view() noexcept { return store_->operators_view(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) {
        return store_->examine(std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up_store() { return store_->set_up(); }
    server_identity server_of(const lock_name& name) const { return store_->identity(name); }
    gates& queues() noexcept { return gates_; }
    patience& patiences() noexcept { return patience_; }
    renewal& renewals() noexcept { return renewal_; }

    /// Returns the mutex that guards the state of a hold. Several holds share a mutex: with one
    /// mutex each, the mutexes took a tenth of the memory of a hundred thousand holds.
    std::mutex& mutex_for(const wire_hold* held) noexcept {
        return mutexes_[(reinterpret_cast<std::uintptr_t>(held) / alignof(std::max_align_t)) %
                        mutexes_.size()];
    }

    /// Returns the first of `numbers` consecutive owner numbers, which are used only once.
    owner_id next_owner(std::uint32_t numbers = 1);
    duration jitter(duration up_to);
    void spawn(asio::awaitable<void> work) { spawn(std::move(work), executor()); }
    /// Runs a coroutine on the executor, or on the executor of a borrowed thread that acts in its
    /// place.
    void spawn(asio::awaitable<void> work, const asio::any_io_executor& where);

    /// Starts a call. Completes it at once if too many calls wait or the client closes. A call that
    /// can begin at once begins on `where`, see spawn().
    void start(const std::shared_ptr<acquisition>&, const asio::any_io_executor& where);
    void start(const std::shared_ptr<acquisition>& call) { start(call, executor()); }
    /// Registers a call, so that closing ends it. False: the call was completed at once, as by
    /// start().
    bool take_up(acquisition&);
    void acquisition_over(acquisition&);
    /// Starts the first call that queues there, if the gate admits it.
    void next_turn(gate_key, gate&);
    void found_busy(acquisition&);       ///< the store answered "busy": the next call may ask, too
    void left_queue(const acquisition&); ///< a call left the queue without its turn
    /// Ends a call that queues at a gate and whose timeout has passed, as busy. At a latch the call
    /// asks the store once more: the latch may be open, and another waiter's answer does not count
    /// for this call.
    void out_of_patience(acquisition&);
    /// Reports that fewer callers share a hold. A call that waits to hold it alone may go on.
    void fewer_share(const wire_hold&);

    // Ends a lost hold. It takes its own reference, because forget() drops another.
    void hold_lost(std::shared_ptr<wire_hold>, event_cause);
    /// Reports that the store has acknowledged the release.
    void released(const wire_hold&, bool others_listen);
    /// Reports that the hold is over, so that its gate serves the next call.
    void hold_over(const wire_hold&);
    /// Opens the gate although the release was only sent. hold_over() or released() follows.
    void release_sent_off(const wire_hold&);
    asio::awaitable<bool> force_unlock(lock_name, std::string only_from = {});
    asio::awaitable<bool> force_kind(lock_name, lock_kind);
    void abandon(const std::shared_ptr<wire_hold>&); ///< the thread that would release it has ended
    /// Keeps an abandoned hold on several locks until its end. No gate owns such a hold.
    void keep(std::shared_ptr<tenure> abandoned) { kept_.push_back(std::move(abandoned)); }
    void keep_no_more(const tenure& ended);

    void tell(const event&);
    void tell_of(const wire_hold&, event_kind, event_cause, duration,
                 const boost::system::system_error* = nullptr);
    void tell_of(const tenure&, event_kind, event_cause, duration); ///< for a hold on several locks
    /// Reports that a counter granted the call.
    void tell_of_count(const acquisition&);
    /// Reports a loss, but only once: close() reports it before the hold ends.
    void tell_lost(wire_hold&, event_cause);
    void tell_of_wait(const acquisition&, event_cause, const failure&);

    /// Sleeps until the given time. Stopping the engine ends the sleep early.
    asio::awaitable<void> nap(time_point until);
    asio::awaitable<void> nap(alarm&, time_point until);

    /// Guard of an operation that `close()` waits for. The wait is at most `close_patience` (or
    /// `release_patience`). Then the store is closed, and `close()` waits a moment until the
    /// operation has ended.
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

        /// Says that `close()` should not wait for this operation, because the server refused it.
        /// The operation goes on.
        void expect_nothing() {
            engine_.unpromising_ += !std::exchange(unpromising_, true);
            engine_.ring_if_quiet();
        }

    private:
        engine& engine_;
        bool unpromising_ = false;
    };

    /// Guard of a background loop of the engine. `close()` does not wait for it before it ends
    /// things. But the close completes only after all loops have ended, since they use the clock.
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

    /// Drops every hold and every handler of a pending close without calling anything, because
    /// nothing will run on this executor again. The holds keep their engine alive, and the engine
    /// keeps them.
    void executor_ended();
    void executor_ends() noexcept; ///< call it before sleeping operations are destroyed
    /// Destroys what must not outlive the execution context: the store with its sockets, and the
    /// executor.
    void executor_gone();

    using closed_handler = asio::any_completion_handler<void()>;
    void close(closed_handler); ///< like client::async_close; the handler runs on the executor
    residue left() const;

private:
    time_point users_time() const noexcept;
    asio::awaitable<void> let_go_of_clock();
    void admit(const std::shared_ptr<acquisition>&, const asio::any_io_executor& where);
    void admit_later(const std::shared_ptr<acquisition>&);
    bool let_in(gate&, acquisition* next);
    asio::awaitable<bool> force(lock_name, asio::awaitable<forced>);
    asio::awaitable<void> close_down();
    void fail_waiters();
    void ring_if_quiet();
    std::shared_ptr<void> store_at_work();
    void doubt(const std::function<bool(const lock_name&)>& which, bool urgent);
    bool quiet() const { return tasks_ == unpromising_ && renewal_.idle(); }
    bool all_ended() const { return tasks_ == 0 && loops_ == 0 && naps_.empty(); }
    asio::awaitable<void> wait_until_quiet(duration patience);
    void let_go();
    asio::awaitable<void> stop();
    void tell_untold();

    surroundings around_; // first member: it outlives the others
    const options how_;
    const std::array<std::uint8_t, 16> identity_;
    const std::shared_ptr<thread_table> threads_;
    const std::shared_ptr<sync::reach> reach_;
    mutable std::mutex store_mutex_; // held while a thread outside the executor asks the store
    std::unique_ptr<store> store_;
    limits bounds_;
    duration unavailable_patience_;
    gates gates_;
    renewal renewal_;
    patience patience_;
    acquisition::list calls_;
    std::size_t calls_count_ = 0;
    std::size_t tasks_ = 0;
    std::size_t unpromising_ = 0; // tasks that close() does not wait for
    std::size_t loops_ = 0;       // also background loops of the store
    std::uint64_t last_number_ = 0;
    std::set<alarm*> naps_;
    std::vector<std::shared_ptr<tenure>> kept_;
    std::unique_ptr<alarm> quiet_;
    std::vector<closed_handler> closers_;
    std::deque<kept_event> untold_; // events from a borrowed thread, and all events after them
    std::array<std::mutex, 16> mutexes_;
    std::stop_source closes_;
    std::atomic<bool> closing_ = false;
    std::atomic<bool> stopped_ = false;
    std::atomic<time_point> closed_at_ = time_point::max();
    mutable std::atomic<int> clock_readers_ = 0; // threads that are inside a user's clock
    std::atomic<bool> closed_ = false;
    std::atomic<bool> gone_ = false;
    // Last member, so destroyed first. Background loops of the store check whether the engine is
    // alive.
    std::shared_ptr<void> alive_ = std::make_shared<char>();
};

} // namespace holdfast::sync
