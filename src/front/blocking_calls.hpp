// SPDX-License-Identifier: Apache-2.0
// Blocking calls. Either the thread sleeps on its own semaphore while the client's executor runs
// the operation, or the thread runs the operation itself inside the client's monitor.
//
// A sleeping thread gets its result through a `one_shot_result` object. The thread stops waiting if
// the executor ends or is not running.
#pragma once

#include "front/preconditions.hpp"
#include "runtime/monitor.hpp"
#include "runtime/process.hpp"
#include "sync/acquisition.hpp"
#include "sync/counter_changes.hpp"
#include "sync/engine.hpp"
#include "sync/lock_descriptor.hpp"
#include "sync/retry_policy.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace holdfast::front {

/// Extra time that a thread waits after the timeout of its call. The thread waits for this time
/// until the result comes, and then once more for the executor to run an empty function. If the
/// executor does not run the function, no thread runs the executor, or user code blocks it. The
/// call then returns an error.
inline constexpr duration executor_timeout = std::chrono::seconds{1};

/// Returns the monitor, whose mutex protects the client's state, if the client has a thread of its
/// own. A caller's thread that enters the monitor may run its operation itself. This is faster than
/// waking the client's thread. Returns null if the executor belongs to the user.
inline runtime::monitor* monitor_of(const sync::engine& home) {
    return home.executor_access().lasting() ? runtime::monitor::of(home.executor()) : nullptr;
}

/// Result that the executor delivers to a waiting thread. The thread and the executor both own this
/// object, because the thread may return before the executor has dropped its reference. The thread
/// also keeps the engine alive.
template <typename T>
class one_shot_result {
public:
    explicit one_shot_result(const sync::engine& home)
        : way_{home.executor_access()}
        , monitor_{monitor_of(home)} {}

    /// Records that the work begins. Call it on the executor. Returns false if the thread no longer
    /// waits; the work must not begin then.
    bool begin() {
        state expected = state::open;
        return state_.compare_exchange_strong(expected, state::begun);
    }

    /// Delivers the value. `keep` owns this object. Returns false if the thread no longer waits;
    /// the caller then keeps the value. If the caller runs inside the monitor (an inline caller),
    /// the waiting thread wakes only after the caller has left the monitor. Otherwise the waiting
    /// thread would find the monitor occupied.
    bool set_value(T&& value, std::shared_ptr<void> keep) {
        if (!leave_for(state::bringing))
            return false;
        value_.emplace(std::move(value));
        state_ = state::brought;
        if (runtime::inline_call* const inline_caller =
                monitor_ ? runtime::inline_call::here(*monitor_) : nullptr)
            inline_caller->wake_behind(ready_, std::move(keep));
        else
            ready_.post();
        return true;
    }

    /// Waits until a value is delivered, and returns the value. Returns nothing if the executor
    /// ends first.
    std::optional<T> wait() {
        const std::stop_callback on_end{way_.ends(), [this] { hurry(); }};
        while (state_ != state::brought) {
            ready_.wait();
            if (hurried_.exchange(false) && leave_for(state::given_up))
                return std::nullopt;
        }
        return std::move(*value_);
    }

    /// Waits for the value, without a limit while the executor runs. If the executor does not run,
    /// waits for `timeout` plus twice `executor_timeout`. Returns nothing if the executor is not
    /// running or has ended. After that, the object accepts no value any more.
    std::optional<T> wait_while_it_runs(duration timeout) {
        if (state_ != state::brought && !await(timeout))
            return std::nullopt;
        return std::move(*value_);
    }

    /// Makes the wait behave as if its timeout had expired now. Any thread may call it.
    void hurry() {
        hurried_ = true;
        ready_.post();
    }

    /// Returns whether the work had begun. Call it after a wait function has returned nothing.
    bool had_begun() const noexcept { return had_begun_; }

private:
    enum class state : std::uint8_t { open, begun, bringing, brought, given_up };

    /// Changes the state to `next` if the present state is open or begun. Otherwise returns false
    /// and changes nothing.
    bool leave_for(state next) {
        state now = state_;
        while (now == state::open || now == state::begun)
            if (state_.compare_exchange_weak(now, next)) {
                had_begun_ = now == state::begun;
                return true;
            }
        return false;
    }

    bool await(duration timeout) {
        const std::stop_callback on_end{way_.ends(), [this] { hurry(); }};
        duration longest = std::min(timeout, duration::max() - executor_timeout);
        longest += executor_timeout;
        for (std::shared_ptr<std::atomic<bool>> ran; !brought_within(longest);
             longest = executor_timeout) {
            if (ran && !*ran && leave_for(state::given_up))
                return false;
            ran = std::make_shared<std::atomic<bool>>(false);
            if (!way_.post([ran] { *ran = true; }) && !brought_before_the_end())
                return false;
        }
        while (state_ != state::brought)
            ready_.wait();
        return true;
    }

    /// Waits while the executor is ending. Returns false if the executor ended and delivered no
    /// value.
    bool brought_before_the_end() {
        while (state_ != state::brought && !way_.ended())
            (void)ready_.wait_for(executor_timeout);
        return !leave_for(state::given_up);
    }

    /// Waits for the value. Returns false if the value did not come in time, or if another thread
    /// called hurry().
    bool brought_within(duration longest) {
        while (state_ != state::brought && ready_.wait_for(longest))
            if (hurried_.exchange(false))
                break;
        return state_ == state::brought;
    }

    sync::executor_access& way_;
    runtime::monitor* const monitor_;
    runtime::semaphore ready_;
    std::atomic<state> state_ = state::open;
    std::atomic<bool> hurried_ = false;
    bool had_begun_ = false; // written before the other thread can see the new state
    std::optional<T> value_;
};

/// Returns the `inline_call` object of this thread if the thread is inside that client's monitor.
/// Otherwise returns null.
inline runtime::inline_call* inline_call_at(const sync::engine& home) {
    const runtime::monitor* const client_monitor = monitor_of(home);
    return client_monitor ? runtime::inline_call::here(*client_monitor) : nullptr;
}

/// Returns the error for a thread that got no result because the executor does not run or has
/// ended. If `begun` is true, the operation may have been executed, or may still be executed later.
inline sync::failure unrun(const sync::engine& home, bool begun) {
    if (!home.stopped())
        return {make_error_code(errc::outcome_unknown),
                "nobody runs the client's executor, or a handler that runs there does not return"};
    return {make_error_code(begun ? errc::outcome_unknown : errc::closed),
            "the client was closed, or its executor has ended"};
}

/// Calls `step(where)` inside the executor: on this thread if it may enter the monitor, otherwise
/// on the client's background thread. Operations that `step` starts run on `where`. If the executor
/// has ended, `step` is destroyed and never called.
template <typename Step>
void begin(const std::shared_ptr<sync::engine>& home, Step step) {
    if (runtime::monitor* const client_monitor = monitor_of(*home))
        if (runtime::inline_call inline_caller{*client_monitor})
            return step(inline_caller.executor());
    (void)home->executor_access().post(
        [home, step = std::move(step)]() mutable { step(home->executor()); });
}

class blocking_call final : public sync::acquisition {
public:
    explicit blocking_call(sync::request what)
        : acquisition{std::move(what)}
        , pending_result_{*home} {}

    static void begin(const std::shared_ptr<blocking_call>& call) {
        auto step = [call](const asio::any_io_executor& where) {
            if (!call->pending_result_.begin())
                return call->cancel(); // cancelled before any request
            call->inline_caller_ = inline_call_at(*call->home);
            call->home->start(call, where);
            call->inline_caller_ = nullptr;
        };
        if (!call->wanted.of->is_joint())
            return front::begin(call->home, std::move(step));
        // For a lock that consists of several locks, use the background thread, because the calls
        // to its members run on that thread. If this thread entered the monitor, this would only
        // delay these calls.
        (void)call->home->executor_access().post([call, step] { step(call->home->executor()); });
    }

    /// Cancels the call. Any thread may call this function.
    static void stop(const std::shared_ptr<blocking_call>& call) {
        (void)call->home->executor_access().post([call] { call->cancel(); });
        call->pending_result_.hurry();
    }

    static sync::outcome wait(const std::shared_ptr<blocking_call>& call) {
        const duration timeout = call->wanted.give_up_at == time_point::max()
                                     ? duration::max()
                                     : call->wanted.give_up_at - call->started_at;
        if (auto told =
                call->pending_result_.wait_while_it_runs(std::max(timeout, duration::zero())))
            return std::move(*told);
        (void)call->home->executor_access().post([call] { call->cancel(); });
        const bool begun = call->pending_result_.had_begun();
        sync::failure why = unrun(*call->home, begun);
        if (!begun && why.code == errc::outcome_unknown)
            why.code = make_error_code(errc::unreachable);
        return {nullptr, std::move(why)};
    }

protected:
    void complete(sync::outcome got) override {
        if (inline_caller_ && inline_caller_ != inline_call_at(*home))
            // Interrupt the waiting thread, which waits for the store as an inline caller. Another
            // thread has ended the call, by a cancellation or by close().
            inline_caller_->interrupt();
        std::shared_ptr<sync::lock_handle> held = got.held;
        const bool counted = got.counted;
        if (pending_result_.set_value(std::move(got), shared_from_this()))
            return;
        const lease unwanted{std::move(held)};
        if (counted)
            sync::give_back(static_cast<const sync::counter_descriptor&>(*wanted.of),
                            wanted.amount);
    }

private:
    one_shot_result<sync::outcome> pending_result_;
    // Inline call of the waiting thread. The thread runs the call itself until the call sleeps for
    // the first time; after that, the pointer is null.
    runtime::inline_call* inline_caller_ = nullptr;
};

/// Waits for the outcome of a call that acquires a lock. Throws the call's failure.
inline sync::outcome outcome_of(sync::request what, const std::stop_token& cancel) {
    const auto call = std::make_shared<blocking_call>(std::move(what));
    const std::stop_callback on_stop{cancel, [&call] { blocking_call::stop(call); }};
    blocking_call::begin(call);
    sync::outcome got = blocking_call::wait(call);
    throw_if(std::move(got.why));
    return got;
}

/// Waits for a hold on a lock. Returns null if the lock is busy. Throws the failure of the call.
inline std::shared_ptr<sync::lock_handle> acquire(sync::request what,
                                                  const std::stop_token& cancel) {
    return outcome_of(std::move(what), cancel).held;
}

/// Runs `work(handler, where)` inside the executor, and waits until `work` calls the handler.
template <typename Work>
sync::failure wait_for_handler(const std::shared_ptr<sync::engine>& home, duration timeout,
                               Work work) {
    const auto pending_result = std::make_shared<one_shot_result<sync::failure>>(*home);
    begin(
        home, [work = std::move(work), pending_result](const asio::any_io_executor& where) mutable {
            (void)pending_result->begin(); // the work must be done even if the thread stops waiting
            auto tell = [pending_result](sync::failure why) {
                pending_result->set_value(std::move(why), pending_result);
            };
            work(sync::release_handler{std::move(tell)}, where);
        });
    std::optional<sync::failure> told = pending_result->wait_while_it_runs(timeout);
    return told ? std::move(*told) : unrun(*home, pending_result->had_begun());
}

inline sync::failure release(const std::shared_ptr<sync::lock_handle>& held) {
    auto work = [held](sync::release_handler done, const auto& where) {
        held->release(std::move(done), where);
    };
    return wait_for_handler(held->home, held->home->how().release_timeout, std::move(work));
}

/// Releases a hold, but waits only until the request is on its way. If this thread sent the request
/// itself, its next request for the lock can follow at once. But if other clients wait for the
/// lock, the next request waits in the local queue until the release is acknowledged. Otherwise the
/// other clients would never get the lock.
inline void release_unwaited(const std::shared_ptr<sync::lock_handle>& held) {
    held->announce_release();
    begin(held->home, [held](const asio::any_io_executor& where) {
        runtime::inline_call* const inline_caller = inline_call_at(*held->home);
        if (inline_caller)
            inline_caller->wait_for_nothing();
        held->release_unwaited(
            where, [inline_caller] { return inline_caller && inline_caller->sent_off(); });
    });
}

inline void extend(const std::shared_ptr<sync::lock_handle>& held, duration length) {
    throw_if(objection_to_blocking(*held));
    auto work = [held, length](sync::release_handler done, const auto&) {
        held->extend(length, std::move(done));
    };
    throw_if(wait_for_handler(held->home, duration::zero(), std::move(work)));
}

inline void confirm(const std::shared_ptr<sync::lock_handle>& held, unsigned replicas) {
    throw_if(objection_to_blocking(*held));
    auto work = [held, replicas](sync::release_handler done, const auto&) {
        held->confirm(replicas, std::move(done));
    };
    throw_if(wait_for_handler(held->home, duration::zero(), std::move(work)));
}

/// Executes a change of a counter, and waits for its reply. Throws the error of the change.
inline counter_answer change(const sync::counter_descriptor& counter, counter_change what) {
    using result = std::pair<sync::failure, counter_answer>;
    const std::shared_ptr<sync::engine>& home = counter.home;
    throw_if(objection_to_blocking(*home));
    const auto pending_result = std::make_shared<one_shot_result<result>>(*home);
    begin(home, [home, what = std::move(what), pending_result](const auto& where) mutable {
        if (home->stopped() || !pending_result->begin())
            return;
        auto tell = [pending_result](sync::failure why, counter_answer said) {
            pending_result->set_value({std::move(why), said}, pending_result);
        };
        sync::begin_change(home, std::move(what), sync::change_handler{std::move(tell)}, where);
    });
    std::optional<result> told = pending_result->wait_while_it_runs(duration::zero());
    throw_if(told ? std::move(told->first) : unrun(*home, pending_result->had_begun()));
    return told->second;
}

/// Runs `work`, but only if the calling thread still waits for it.
template <typename Meeting, typename T>
asio::awaitable<T> unless_given_up(std::shared_ptr<Meeting> pending_result,
                                   asio::awaitable<T> work) {
    if (!pending_result->begin())
        throw boost::system::system_error{asio::error::operation_aborted};
    co_return co_await std::move(work);
}

/// Runs a coroutine on the executor, waits for its end, and returns its result. Rethrows the
/// coroutine's exception.
template <typename T>
T wait_for(const std::shared_ptr<sync::engine>& home, asio::awaitable<T> work) {
    throw_if(objection_to_blocking(*home));
    using result = std::pair<std::exception_ptr, T>;
    const auto pending_result = std::make_shared<one_shot_result<result>>(*home);
    auto told = [pending_result, home](std::exception_ptr thrown, T value) {
        pending_result->set_value({std::move(thrown), std::move(value)}, pending_result);
    };
    (void)home->executor_access().use([&](const asio::any_io_executor& to) {
        asio::co_spawn(to, unless_given_up(pending_result, std::move(work)), std::move(told));
    });
    std::optional<result> got = pending_result->wait_while_it_runs(duration::zero());
    if (!got)
        throw worded_error{unrun(*home, pending_result->had_begun())};
    if (got->first)
        std::rethrow_exception(got->first);
    return std::move(got->second);
}

/// Runs a query on the executor and waits for its result. `make_query` returns a new coroutine,
/// which keeps no references: the query may continue after the caller has stopped waiting. If no
/// server can be reached and another server may take over, the query is repeated. An asynchronous
/// query is never repeated, because it cannot be cancelled.
template <typename Make>
auto wait_for_query(const std::shared_ptr<sync::engine>& home, Make make_query) {
    return wait_for(home, sync::outlast_failover(home, std::move(make_query)));
}

} // namespace holdfast::front
