// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls and their completion handlers. A handler runs on its own executor, and never
// inside the function that started the operation. The handler gets an error_code; no exception is
// thrown.
#pragma once

#include "front/preconditions.hpp"
#include "runtime/process.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace holdfast::front {

/// Handler of the user for a pending call, with the handler's executor (or `otherwise` if the
/// handler has none). As Asio requires, the executor has work as long as this object exists. The
/// object must outlive the call of `complete`: an execution context without work may be destroyed
/// before that call has returned.
template <typename Handler>
class awaited {
public:
    awaited(Handler handler, const asio::any_io_executor& otherwise)
        : busy_{asio::get_associated_executor(handler, otherwise)}
        , handler_{std::move(handler)} {}

    const Handler& handler() const { return handler_; }

    /// Runs the handler. Call this function once, on the executor `otherwise`.
    template <typename... Args>
    void complete(Args... args) {
        auto invoke = [handler = std::move(handler_),
                       args = std::make_tuple(std::move(args)...)]() mutable {
            std::apply(std::move(handler), std::move(args));
        };
        asio::dispatch(busy_.get_executor(), std::move(invoke));
    }

private:
    asio::executor_work_guard<asio::associated_executor_t<Handler, asio::any_io_executor>> busy_;
    Handler handler_;
};

/// Calls a handler when the client's executor cannot run it: in a child of fork(), after the
/// executor's end, or for an object that holds nothing. The function starts a new thread for the
/// handler. It cannot use Asio's system_executor: if the parent of a fork() has used that executor,
/// the executor's threads do not exist in the child.
template <typename Handler, typename... Args>
void complete_elsewhere(Handler handler, Args... args) {
    auto begin = [waiting = awaited{std::move(handler), asio::system_executor{}},
                  args = std::make_tuple(std::move(args)...)]() mutable {
        auto arrive = [&waiting](Args... values) { waiting.complete(std::move(values)...); };
        std::apply(arrive, std::move(args));
    };
    runtime::start_thread(std::move(begin)).detach();
}

/// Returns the error code of an exception that reports a failure of the store. Rethrows every other
/// exception, because any other exception is a bug.
inline error_code to_error_code(const std::exception_ptr& thrown) {
    if (!thrown)
        return {};
    try {
        std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& e) {
        return e.code();
    }
}

/// Runs `work`, unless the client has closed. After the close of the client, the clock that `work`
/// uses may be destroyed.
template <typename T>
asio::awaitable<T> unless_closed(std::shared_ptr<sync::engine> home, asio::awaitable<T> work) {
    if (home->stopped())
        throw boost::system::system_error{make_error_code(errc::closed)};
    co_return co_await std::move(work);
}

/// Runs a coroutine, and then completes the handler with its error code and its result of type T.
template <typename T, typename Handler>
void start(const std::shared_ptr<sync::engine>& home, asio::awaitable<T> work, Handler handler) {
    if (const error_code ec = objection_to_posting(*home))
        return complete_elsewhere(std::move(handler), ec, T{});
    auto done = [home, waiting = awaited{std::move(handler), home->executor()}](
                    const std::exception_ptr& thrown, T value) mutable {
        waiting.complete(to_error_code(thrown), std::move(value));
    };
    asio::co_spawn(home->executor(), unless_closed(home, std::move(work)), std::move(done));
}

/// Runs a coroutine that returns nothing, and then completes the handler with its error code.
template <typename Handler>
void start(const std::shared_ptr<sync::engine>& home, asio::awaitable<void> work, Handler handler) {
    if (const error_code ec = objection_to_posting(*home))
        return complete_elsewhere(std::move(handler), ec);
    auto done = [home, waiting = awaited{std::move(handler), home->executor()}](
                    const std::exception_ptr& thrown) mutable {
        waiting.complete(to_error_code(thrown));
    };
    asio::co_spawn(home->executor(), unless_closed(home, std::move(work)), std::move(done));
}

/// An asynchronous call that acquires a lock. `Deliver` converts its outcome to the handler's
/// arguments.
template <typename Handler, typename Deliver>
class async_call final : public sync::acquisition {
public:
    async_call(sync::request what, Handler handler, Deliver deliver)
        : acquisition{std::move(what)}
        , waiting_{std::move(handler), home->executor()}
        , deliver_{std::move(deliver)} {}

    /// Starts the call. If the user cancels the call, the handler is called at once. The requests
    /// of the call that are still pending are cleaned up later.
    static void begin(const std::shared_ptr<async_call>& call) {
        auto slot = asio::get_associated_cancellation_slot(call->waiting_.handler());
        if (slot.is_connected())
            slot.assign([weak = std::weak_ptr<async_call>{call}](asio::cancellation_type) {
                if (const std::shared_ptr<async_call> strong = weak.lock())
                    (void)strong->home->executor_access().post([strong] { strong->cancel(); });
            });
        if (runtime::is_inside(call->home->executor()))
            call->home->start(call); // direct call, which saves a post on the most frequent path
        else
            asio::post(call->home->executor(), [call] { call->home->start(call); });
    }

protected:
    void complete(sync::outcome got) override {
        if (!beginning() && !home->borrowed())
            return deliver_(waiting_, std::move(got));
        auto later = [self = std::static_pointer_cast<async_call>(shared_from_this()),
                      got = std::move(got)]() mutable {
            self->deliver_(self->waiting_, std::move(got));
        };
        asio::post(home->executor(), std::move(later));
    }

private:
    awaited<Handler> waiting_;
    Deliver deliver_;
};

/// Starts the acquiring call that `wanted()` describes. If `wanted()` throws, the handler gets the
/// error.
template <typename Handler, typename Deliver, typename Wanted>
void start_call(const std::shared_ptr<sync::engine>& home, Handler handler, Deliver deliver,
                Wanted wanted) {
    try {
        throw_if(home->stopped() ? closed() : sync::failure{});
        using call = async_call<Handler, Deliver>;
        sync::request what = wanted();
        call::begin(std::make_shared<call>(std::move(what), std::move(handler), deliver));
    } catch (const boost::system::system_error& e) {
        auto refuse = [waiting = awaited{std::move(handler), home->executor()}, ec = e.code(),
                       deliver]() mutable {
            deliver(waiting, sync::outcome{nullptr, {ec, {}}});
        };
        asio::post(home->executor(), std::move(refuse));
    }
}

} // namespace holdfast::front
