// SPDX-License-Identifier: Apache-2.0
// One-shot result (`rendezvous`): a thread sleeps on its own semaphore until the executor delivers
// a value. It does not wait for ever if the executor is not running or ends.
#pragma once

#include "runtime/monitor.hpp"
#include "runtime/semaphore.hpp"
#include "runtime/visit.hpp"
#include "sync/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace holdfast::front {

/// Time that a thread gives the executor after its own timeout: first to deliver the result, and
/// then once more to run an empty function. If neither happens, nothing runs the executor, or its
/// thread is stuck in code of the user. Then the call returns.
inline constexpr duration executor_patience = std::chrono::seconds{1};

/// Returns the monitor that threads may enter instead of waking the client's own thread. Null: the
/// executor belongs to the user.
inline runtime::monitor* entrance_of(const sync::engine& home) {
    return home.reach().lasting() ? runtime::monitor::of(home.executor()) : nullptr;
}

/// Result that the executor delivers to a waiting thread. The thread and the executor share the
/// object, because the thread may end before the executor releases it. The thread keeps the engine
/// alive.
template <typename T>
class rendezvous {
public:
    explicit rendezvous(const sync::engine& home)
        : way_{home.reach()}
        , entrance_{entrance_of(home)} {}

    /// Starts the work. Call it on the executor. Returns false if the thread no longer waits; the
    /// work must not begin then.
    bool begin() {
        state expected = state::open;
        return state_.compare_exchange_strong(expected, state::begun);
    }

    /// Delivers the value. `keep` is the object that contains this one. A visitor wakes the thread
    /// only after it has left the monitor. Otherwise the woken thread would find the monitor
    /// occupied. Returns false if the thread no longer waits; the caller then keeps the value.
    bool bring(T&& value, std::shared_ptr<void> keep) {
        if (!leave_for(state::bringing))
            return false;
        value_.emplace(std::move(value));
        state_ = state::brought;
        if (runtime::visit* const visitor = entrance_ ? runtime::visit::here(*entrance_) : nullptr)
            visitor->wake_behind(ready_, std::move(keep));
        else
            ready_.post();
        return true;
    }

    /// Waits until the value is there. Returns nothing if the executor has ended.
    std::optional<T> wait() {
        const std::stop_callback on_end{way_.ends(), [this] { hurry(); }};
        while (state_ != state::brought) {
            ready_.wait();
            if (hurried_.exchange(false) && leave_for(state::given_up))
                return std::nullopt;
        }
        return std::move(*value_);
    }

    /// Waits without a limit while the executor runs. If it does not run, waits for `patience` plus
    /// twice `executor_patience`. Returns nothing if the executor is not running or has ended. A
    /// value that comes later is refused.
    std::optional<T> wait_while_it_runs(duration patience) {
        if (state_ != state::brought && !await(patience))
            return std::nullopt;
        return std::move(*value_);
    }

    /// Ends the timeout of the wait now. Any thread.
    void hurry() {
        hurried_ = true;
        ready_.post();
    }

    /// Returns whether the work had begun. Call it after a wait that returned nothing.
    bool had_begun() const noexcept { return had_begun_; }

private:
    enum class state : std::uint8_t { open, begun, bringing, brought, given_up };

    /// Changes the state from open or begun to `next`. Returns false if the object was in another
    /// state.
    bool leave_for(state next) {
        state now = state_;
        while (now == state::open || now == state::begun)
            if (state_.compare_exchange_weak(now, next)) {
                had_begun_ = now == state::begun;
                return true;
            }
        return false;
    }

    bool await(duration patience) {
        const std::stop_callback on_end{way_.ends(), [this] { hurry(); }};
        duration longest = std::min(patience, duration::max() - executor_patience);
        longest += executor_patience;
        for (std::shared_ptr<std::atomic<bool>> ran; !brought_within(longest);
             longest = executor_patience) {
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

    /// Waits while the executor is ending. Returns false if it ended without a value.
    bool brought_before_the_end() {
        while (state_ != state::brought && !way_.ended())
            (void)ready_.wait_for(executor_patience);
        return !leave_for(state::given_up);
    }

    /// Waits for the value. Returns false if the value did not come in time, or if hurry() was
    /// called.
    bool brought_within(duration longest) {
        while (state_ != state::brought && ready_.wait_for(longest))
            if (hurried_.exchange(false))
                break;
        return state_ == state::brought;
    }

    sync::reach& way_;
    runtime::monitor* const entrance_;
    runtime::semaphore ready_;
    std::atomic<state> state_ = state::open;
    std::atomic<bool> hurried_ = false;
    bool had_begun_ = false; // written before the other thread learns of the new state
    std::optional<T> value_;
};

} // namespace holdfast::front
