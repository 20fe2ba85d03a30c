// SPDX-License-Identifier: Apache-2.0
// How a thread waits for what the executor does: asleep on a semaphore of its own.
#pragma once

#include "front/guard.hpp"
#include "sync/extend.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <semaphore>
#include <utility>

namespace holdfast::front {

/// One value, from the executor to the thread that waits for it. Shared by both, since the thread
/// may be gone before the executor has let go.
template <typename T>
class rendezvous {
public:
    void bring(T value) {
        value_.emplace(std::move(value));
        ready_.release();
    }
    T wait() {
        ready_.acquire();
        return std::move(*value_);
    }

private:
    std::binary_semaphore ready_{0};
    std::optional<T> value_;
};

class blocking_call final : public sync::acquisition {
public:
    using acquisition::acquisition;

    struct outcome {
        std::shared_ptr<sync::wire_hold> held;
        sync::failure why;
    };
    outcome wait() { return meeting_.wait(); }

protected:
    void complete(std::shared_ptr<sync::wire_hold> held, const sync::failure& why) override {
        meeting_.bring({std::move(held), why});
    }

private:
    rendezvous<outcome> meeting_;
};

/// Runs `begin(handler)` on the executor and waits until the handler is told how it went.
template <typename Begin>
sync::failure wait_for_release(const std::shared_ptr<sync::engine>& home, Begin begin) {
    const auto meeting = std::make_shared<rendezvous<sync::failure>>();
    auto on_executor = [begin = std::move(begin), meeting]() mutable {
        begin(sync::release_handler{
            [meeting](sync::failure why) { meeting->bring(std::move(why)); }});
    };
    asio::post(home->executor(), std::move(on_executor));
    return meeting->wait();
}

inline void extend(const std::shared_ptr<sync::wire_hold>& held, duration length) {
    throw_if(objection_to_blocking(*held->home));
    throw_if(wait_for_release(held->home, [held, length](sync::release_handler done) {
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
                       meeting->bring({std::move(thrown), std::move(value)});
                   });
    result got = meeting->wait();
    if (got.first)
        std::rethrow_exception(got.first);
    return std::move(got.second);
}

} // namespace holdfast::front
