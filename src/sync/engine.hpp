// SPDX-License-Identifier: Apache-2.0
// What a client is made of: the store, the clock, the gates, the renewal, and the count of what is
// under way. Everything on the executor, but for what says otherwise.
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

/// What is left in an engine when all is quiet: nothing (checked by the simulation).
struct residue {
    std::size_t gates, waiters, holds, tasks;
};

/// What an engine is made with.
struct surroundings {
    asio::any_io_executor executor;
    clock& time;
    std::shared_ptr<void> keeps{};  ///< must live as long as the engine: its loop, its clock
    std::function<bool()> forked{}; ///< whether this process is a child that has no such thread
    /// Whether this thread is a caller's that only does its own work here: then nothing of a
    /// user's, neither handler nor observer nor stop callback, may run on it.
    std::function<bool()> borrowed{};
    bool own_thread = false; ///< the executor lives as long as the engine: it is the client's own
    bool own_clock = false;  ///< the same of the clock
};

class engine : public std::enable_shared_from_this<engine> {
public:
    /// `options::store` and `random` must be given.
    engine(surroundings, options);
    ~engine();

    // Any thread.
    /// Returns the time. A user's clock may be gone when closing has completed: the time stands
    /// still from then on.
    time_point now() const noexcept {
        return around_.own_clock ? around_.time.now() : users_time();
    }
    /// Returns how much later than shown it may be: the machine's clock is rounded down, and nobody
    /// may give up before his time.
    duration clock_rounding() const noexcept { return duration{around_.own_clock ? 1 : 0}; }
    const options& how() const noexcept { return how_; }
    duration unavailable_patience() const noexcept { return unavailable_patience_; }
    /// For code that runs on the executor, or that begins an asynchronous verb. All others reach it
    /// by way of `reach()`.
    const asio::any_io_executor& executor() const noexcept { return around_.executor; }
    const std::array<std::uint8_t, 16>& identity() const noexcept { return identity_; }
    const std::shared_ptr<thread_table>& threads() const noexcept { return threads_; }
    /// Calls `ask(store)` while the store cannot be destroyed. False: it is gone, with the
    /// executor.
    template <typename Ask>
    bool ask_store(Ask&& ask) const {
        const std::scoped_lock guard{store_mutex_};
        if (!store_)
            return false;
        std::forward<Ask>(ask)(*store_);
        return true;
    }
    /// Whether the executor was destroyed, and the store with it.
    bool gone() const noexcept { return gone_; }
    const limits& bounds() const noexcept {
        return bounds_;
    } ///< of the store, also when it is gone
    /// The way to the executor for threads that do not run it.
    sync::reach& reach() const noexcept { return *reach_; }
    bool forked() const { return around_.forked && around_.forked(); }
    bool borrowed() const { return around_.borrowed && around_.borrowed(); }
    bool closing() const noexcept { return closing_; }
    /// Stops when closing begins, on the executor.
    std::stop_token closes() const noexcept { return closes_.get_token(); }
    bool stopped() const noexcept { return stopped_; }
    /// Nothing of it uses the executor or the clock any more.
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

    /// For what any thread asks one of its holds. A hundred thousand mutexes were a tenth of the
    /// memory of so many holds.
    std::mutex& mutex_for(const wire_hold* held) noexcept {
        return mutexes_[(reinterpret_cast<std::uintptr_t>(held) / alignof(std::max_align_t)) %
                        mutexes_.size()];
    }

    /// The first of so many numbers in a row, which are used once.
    owner_id next_owner(std::uint32_t numbers = 1);
    duration jitter(duration up_to);
    void spawn(asio::awaitable<void> work) { spawn(std::move(work), executor()); }
    /// On the executor, or on what a borrowed thread runs in its place.
    void spawn(asio::awaitable<void> work, const asio::any_io_executor& where);

    /// Starts a call, or completes it at once if there is no more room or the client closes. If it
    /// can begin at once it does so on `where`, see spawn().
    void start(const std::shared_ptr<acquisition>&, const asio::any_io_executor& where);
    void start(const std::shared_ptr<acquisition>& call) { start(call, executor()); }
    /// From now on closing ends it. False: it was completed at once, as start() says.
    bool take_up(acquisition&);
    void acquisition_over(acquisition&);
    void next_turn(gate_key, gate&);     ///< lets in who queues there first, if the gate admits it
    void found_busy(acquisition&);       ///< the store did not grant it: who is next may ask, too
    void left_queue(const acquisition&); ///< without having had its turn
    /// The time of a call that queues at a gate is over: it is busy. At a latch it looks once more,
    /// because the latch may be open, and the look of another waiter is no answer to this one.
    void out_of_patience(acquisition&);
    void fewer_share(const wire_hold&); ///< somebody may wait to have it alone

    void hold_lost(std::shared_ptr<wire_hold>, event_cause); // its own: forget() drops one
    void released(const wire_hold&, bool others_listen);     ///< the store says so
    void hold_over(const wire_hold&);                        ///< its gate is free for the next
    /// So it is, although only the request was sent; hold_over() or released() follows.
    void release_sent_off(const wire_hold&);
    asio::awaitable<bool> force_unlock(lock_name, std::string only_from = {});
    asio::awaitable<bool> force_kind(lock_name, lock_kind);
    void abandon(const std::shared_ptr<wire_hold>&); ///< nobody is left to release it
    /// Until its end, a hold of several that was abandoned: no gate has it.
    void keep(std::shared_ptr<tenure> abandoned) { kept_.push_back(std::move(abandoned)); }
    void keep_no_more(const tenure& ended);

    void tell(const event&);
    void tell_of(const wire_hold&, event_kind, event_cause, duration,
                 const boost::system::system_error* = nullptr);
    void tell_of(const tenure&, event_kind, event_cause, duration); ///< of several
    void tell_of_count(const acquisition&);                         ///< it was granted
    void tell_lost(wire_hold&, event_cause); ///< unless it was: closing comes before its end
    void tell_of_wait(const acquisition&, event_cause, const failure&);

    /// Sleeps; woken early when the engine stops.
    asio::awaitable<void> nap(time_point until);
    asio::awaitable<void> nap(alarm&, time_point until);

    /// Something that `close()` waits for, within its patience; and then until it has ended.
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

        /// It goes on, but `close()` has no patience for it: the server said no.
        void expect_nothing() {
            engine_.unpromising_ += !std::exchange(unpromising_, true);
            engine_.ring_if_quiet();
        }

    private:
        engine& engine_;
        bool unpromising_ = false;
    };

    /// A loop of the engine's own. It does not keep `close()` from ending anything; but the close
    /// completes only when all of them have ended, since each asks the clock.
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

    /// Of every hold and of who waits for the close, without a word: nothing will run here again.
    /// They keep their engine, which keeps them.
    void executor_ended();
    void executor_ends() noexcept; ///< before anything that sleeps there dies
    /// Of what must not outlive the context: the store's sockets, and the executor itself.
    void executor_gone();

    using closed_handler = asio::any_completion_handler<void()>;
    void close(closed_handler); ///< as client::async_close; the handler is run on the executor
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

    surroundings around_; // first: it outlives the rest
    const options how_;
    const std::array<std::uint8_t, 16> identity_;
    const std::shared_ptr<thread_table> threads_;
    const std::shared_ptr<sync::reach> reach_;
    mutable std::mutex store_mutex_; // while threads that do not run the executor ask the store
    std::unique_ptr<store> store_;
    limits bounds_;
    duration unavailable_patience_;
    gates gates_;
    renewal renewal_;
    patience patience_;
    acquisition::list calls_;
    std::size_t calls_count_ = 0;
    std::size_t tasks_ = 0;
    std::size_t unpromising_ = 0; // of the tasks
    std::size_t loops_ = 0;       // the store's too
    std::uint64_t last_number_ = 0;
    std::set<alarm*> naps_;
    std::vector<std::shared_ptr<tenure>> kept_;
    std::unique_ptr<alarm> quiet_;
    std::vector<closed_handler> closers_;
    std::deque<kept_event> untold_; // from a borrowed thread, and what came behind it
    std::array<std::mutex, 16> mutexes_;
    std::stop_source closes_;
    std::atomic<bool> closing_ = false;
    std::atomic<bool> stopped_ = false;
    std::atomic<time_point> closed_at_ = time_point::max();
    mutable std::atomic<int> clock_readers_ = 0; // threads that are inside a user's clock
    std::atomic<bool> closed_ = false;
    std::atomic<bool> gone_ = false;
    std::shared_ptr<void> alive_ = std::make_shared<char>(); // last: a loop of the store may ask
};

} // namespace holdfast::sync
