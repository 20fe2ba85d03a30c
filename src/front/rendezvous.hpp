// SPDX-License-Identifier: Apache-2.0
// Where a thread waits for what the executor does: asleep on a semaphore of its own, and not for
// ever if nobody runs that executor or if it ends.
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

/// When a call's own time is over, its thread gives the executor this long to tell of it, and then
/// as long once more to run something that is nothing. An executor that does neither is run by
/// nobody, or whoever runs it is stuck in something of the user's: the thread returns.
inline constexpr duration executor_patience = std::chrono::seconds{1};

/// Returns the monitor that threads may visit instead of waking the client's own thread. Null: the
/// executor is a user's.
inline runtime::monitor* entrance_of(const sync::engine& home) {
    return home.reach().lasting() ? runtime::monitor::of(home.executor()) : nullptr;
}

/// One value, from the executor to the thread that waits for it. Shared by both, since the thread
/// may be gone before the executor has let go. The thread keeps the engine.
template <typename T>
class rendezvous {
public:
    explicit rendezvous(const sync::engine& home)
        : way_{home.reach()}
        , entrance_{entrance_of(home)} {}

    /// On the executor, before the work begins. False: the thread waits no more, and wants nothing
    /// done.
    bool begin() {
        state expected = state::open;
        return state_.compare_exchange_strong(expected, state::begun);
    }

    /// `keep`: what it is part of. A visitor wakes nobody who would only find it still inside.
    /// False: the thread waits no more, and the value is still the caller's.
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

    /// Waits until the value is there. Nothing: the executor has ended.
    std::optional<T> wait() {
        const std::stop_callback on_end{way_.ends(), [this] { hurry(); }};
        while (state_ != state::brought) {
            ready_.wait();
            if (hurried_.exchange(false) && leave_for(state::given_up))
                return std::nullopt;
        }
        return std::move(*value_);
    }

    /// Waits as long as it takes if the executor runs; else for `patience` and two of
    /// `executor_patience`. Nothing: nobody runs it or it has ended, and what is brought later is
    /// not taken.
    std::optional<T> wait_while_it_runs(duration patience) {
        if (state_ != state::brought && !await(patience))
            return std::nullopt;
        return std::move(*value_);
    }

    /// Its time is over now. Any thread.
    void hurry() {
        hurried_ = true;
        ready_.post();
    }

    /// Of a thread that waited in vain: whether the work had begun.
    bool had_begun() const noexcept { return had_begun_; }

private:
    enum class state : std::uint8_t { open, begun, bringing, brought, given_up };

    /// From open or begun. False: it is neither any more.
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

    /// The executor is ending. False: it has ended before.
    bool brought_before_the_end() {
        while (state_ != state::brought && !way_.ended())
            (void)ready_.wait_for(executor_patience);
        return !leave_for(state::given_up);
    }

    /// False too if its time is over before.
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
    bool had_begun_ = false; // written by the one that leaves, read by the thread that gave up
    std::optional<T> value_;
};

} // namespace holdfast::front
