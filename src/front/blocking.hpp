// SPDX-License-Identifier: Apache-2.0
// How a thread waits for what the executor does: asleep on a semaphore of its own; or it does it
// itself, as a visitor, and finds it done.
#pragma once

#include "front/guard.hpp"
#include "runtime/visit.hpp"
#include "sync/extend.hpp"
#include "sync/release.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::front {

/// One value, from the executor to the thread that waits for it. Shared by both, since the thread
/// may be gone before the executor has let go.
template <typename T>
class rendezvous {
public:
    /// `keep`: what it is part of. A visitor wakes nobody who would only find it still inside.
    void bring(T value, std::shared_ptr<void> keep) {
        value_.emplace(std::move(value));
        if (runtime::visit* const visitor = runtime::visit::here())
            visitor->wake_behind(ready_, std::move(keep));
        else
            ready_.post();
    }
    T wait() {
        ready_.wait();
        return std::move(*value_);
    }

private:
    runtime::semaphore ready_;
    std::optional<T> value_;
};

/// Runs `step(where)` inside the executor: on this thread if it may visit, else over there. What
/// `step` starts and waits for runs on `where`.
template <typename Step>
void begin(const std::shared_ptr<sync::engine>& home, Step step) {
    if (runtime::monitor* const entrance = runtime::monitor::of(home->executor()))
        if (runtime::visit visitor{*entrance})
            return step(visitor.executor());
    asio::post(home->executor(),
               [home, step = std::move(step)]() mutable { step(home->executor()); });
}

class blocking_call final : public sync::acquisition {
public:
    using acquisition::acquisition;

    struct outcome {
        std::shared_ptr<sync::wire_hold> held;
        sync::failure why;
    };
    outcome wait() { return meeting_.wait(); }

    static void begin(const std::shared_ptr<blocking_call>& call) {
        front::begin(call->home, [call](const asio::any_io_executor& where) {
            call->visitor_ = runtime::visit::here();
            call->home->start(call, where);
            call->visitor_ = nullptr;
        });
    }

protected:
    void complete(std::shared_ptr<sync::wire_hold> held, const sync::failure& why) override {
        if (visitor_ && visitor_ != runtime::visit::here())
            visitor_->interrupt(); // cancelled, or the client closes, while it asks the store
        meeting_.bring({std::move(held), why}, shared_from_this());
    }

private:
    rendezvous<outcome> meeting_;
    runtime::visit* visitor_ = nullptr; // who runs it, until it first sleeps
};

/// Runs `work(handler, where)` inside the executor, and waits until the handler is told.
template <typename Work>
sync::failure wait_for_release(const std::shared_ptr<sync::engine>& home, Work work) {
    const auto meeting = std::make_shared<rendezvous<sync::failure>>();
    begin(home, [work = std::move(work), meeting](const asio::any_io_executor& where) mutable {
        auto tell = [meeting](sync::failure why) { meeting->bring(std::move(why), meeting); };
        work(sync::release_handler{std::move(tell)}, where);
    });
    return meeting->wait();
}

inline sync::failure release(const std::shared_ptr<sync::wire_hold>& held) {
    return wait_for_release(held->home, [held](sync::release_handler done, const auto& where) {
        sync::release(held, std::move(done), where);
    });
}

/// The same, but only until the request is on its way. If this thread sent it itself, it will find
/// the gate open and its own next request behind that one: unless others wait, who would never win
/// against such an attempt.
inline void release_unwaited(const std::shared_ptr<sync::wire_hold>& held) {
    begin(held->home, [held](const asio::any_io_executor& where) {
        runtime::visit* const visitor = runtime::visit::here();
        if (visitor)
            visitor->wait_for_nothing();
        sync::release(held, sync::release_handler{[](const sync::failure&) {}}, where);
        if (visitor && visitor->sent_off() && !held->others_listen)
            held->home->hold_over(*held);
    });
}

inline void extend(const std::shared_ptr<sync::wire_hold>& held, duration length) {
    throw_if(objection_to_blocking(*held->home));
    throw_if(wait_for_release(held->home, [held, length](sync::release_handler done, const auto&) {
        sync::extend(held, length, std::move(done));
    }));
}

/// Runs a coroutine on the executor and waits for its answer; throws what it throws.
template <typename T>
T wait_for(const std::shared_ptr<sync::engine>& home, asio::awaitable<T> work) {
    throw_if(objection_to_blocking(*home));
    using result = std::pair<std::exception_ptr, T>;
    const auto meeting = std::make_shared<rendezvous<result>>();
    asio::co_spawn(home->executor(), std::move(work),
                   [meeting, home](std::exception_ptr thrown, T value) {
                       meeting->bring({std::move(thrown), std::move(value)}, meeting);
                   });
    result got = meeting->wait();
    if (got.first)
        std::rethrow_exception(got.first);
    return std::move(got.second);
}

} // namespace holdfast::front
