// SPDX-License-Identifier: Apache-2.0
// Where a thread waits for what the executor does: asleep on a semaphore of its own, and not for
// ever if nobody runs that executor.
#pragma once

#include "runtime/monitor.hpp"
#include "runtime/semaphore.hpp"
#include "runtime/visit.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::front {

/// When a call's own time is over, its thread gives the executor this long to tell of it, and then
/// as long once more to run something that is nothing. An executor that does neither is run by
/// nobody, or whoever runs it is stuck in something of the user's: the thread returns.
inline constexpr duration executor_patience = std::chrono::seconds{1};

/// One value, from the executor to the thread that waits for it. Shared by both, since the thread
/// may be gone before the executor has let go.
template <typename T>
class rendezvous {
public:
    explicit rendezvous(asio::any_io_executor from)
        : from_{std::move(from)}
        , entrance_{runtime::monitor::of(from_)} {}

    /// `keep`: what it is part of. A visitor wakes nobody who would only find it still inside.
    /// False: the thread waits no more, and the value is still the caller's.
    bool bring(T&& value, std::shared_ptr<void> keep) {
        state expected = state::open;
        if (!state_.compare_exchange_strong(expected, state::bringing))
            return false;
        value_.emplace(std::move(value));
        state_ = state::brought;
        if (runtime::visit* const visitor = entrance_ ? runtime::visit::here(*entrance_) : nullptr)
            visitor->wake_behind(ready_, std::move(keep));
        else
            ready_.post();
        return true;
    }

    /// However long it takes.
    T wait() {
        while (state_ != state::brought)
            ready_.wait();
        return std::move(*value_);
    }

    /// As long as it takes if the executor runs; else for `patience` and two of
    /// `executor_patience`. Nothing: nobody runs it, and what is brought later is not taken.
    std::optional<T> wait_while_it_runs(duration patience) {
        duration longest = std::min(patience, duration::max() - executor_patience);
        longest += executor_patience;
        for (std::shared_ptr<std::atomic<bool>> ran; !brought_within(longest);
             longest = executor_patience) {
            if (ran && !*ran && give_up())
                return std::nullopt;
            ran = std::make_shared<std::atomic<bool>>(false);
            asio::post(from_, [ran] { *ran = true; });
        }
        return wait();
    }

    /// Its time is over now. Any thread.
    void hurry() {
        hurried_ = true;
        ready_.post();
    }
    bool given_up() const noexcept { return state_ == state::given_up; }

private:
    enum class state : std::uint8_t { open, bringing, brought, given_up };

    /// False too if its time is over before.
    bool brought_within(duration longest) {
        while (state_ != state::brought && ready_.wait_for(longest))
            if (hurried_.exchange(false))
                break;
        return state_ == state::brought;
    }
    bool give_up() {
        state expected = state::open;
        return state_.compare_exchange_strong(expected, state::given_up);
    }

    const asio::any_io_executor from_;
    runtime::monitor* const entrance_;
    runtime::semaphore ready_;
    std::atomic<state> state_ = state::open;
    std::atomic<bool> hurried_ = false;
    std::optional<T> value_;
};

} // namespace holdfast::front
