// SPDX-License-Identifier: Apache-2.0
// Coroutines that wait for the first of several operations, for a stop token, or for a time.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>

namespace cli {

namespace asio = holdfast::asio;

/// Runs all parts at the same time until the first part ends. Then cancels the other parts and
/// waits for their end. If the first part ended with an exception, throws this exception. (Asio's
/// operator `||` would continue to wait for a part without an exception.)
template <typename... Parts>
asio::awaitable<void> until_first(Parts... parts) {
    const auto executor = co_await asio::this_coro::executor;
    auto group = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, std::move(parts), asio::deferred)...);
    const auto ended =
        co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const auto thrown = std::apply(
        [](const auto& order, const auto&... each) {
            return std::array<std::exception_ptr, sizeof...(Parts)>{each...}[order.front()];
        },
        ended);
    if (thrown)
        std::rethrow_exception(thrown);
}

/// Waits until a stop is requested through the token. Request the stop on this executor's thread,
/// as a lease does.
inline asio::awaitable<void> stop_requested(std::stop_token token) {
    using timer = asio::steady_timer;
    timer bell{co_await asio::this_coro::executor, timer::time_point::max()};
    // Set the expiry of the timer to a time in the past. Unlike cancel(), this also ends a wait
    // that begins later.
    const std::stop_callback ring{token, [&bell] { bell.expires_at(timer::time_point::min()); }};
    holdfast::error_code rung;
    co_await bell.async_wait(asio::redirect_error(asio::use_awaitable, rung));
    if (!token.stop_requested()) // this coroutine was cancelled
        throw boost::system::system_error{asio::error::operation_aborted};
}

/// Runs `work`, which cannot be cancelled, and returns its result. If this coroutine is cancelled,
/// it ends at once, but `work` continues without it. So `work` must not refer to local variables of
/// the caller. `T` must have a default constructor.
template <typename T>
asio::awaitable<T> abandonable(asio::awaitable<T> work) {
    using timer = asio::steady_timer;
    struct outcome {
        timer ended;
        std::exception_ptr thrown{};
        std::optional<T> value{};
    };
    const auto executor = co_await asio::this_coro::executor;
    const auto got = std::make_shared<outcome>(outcome{timer{executor, timer::time_point::max()}});
    asio::co_spawn(executor, std::move(work), [got](std::exception_ptr thrown, T value) {
        got->thrown = std::move(thrown);
        got->value.emplace(std::move(value));
        got->ended.expires_at(timer::time_point::min());
    });
    holdfast::error_code rung;
    co_await got->ended.async_wait(asio::redirect_error(asio::use_awaitable, rung));
    if (!got->value) // this coroutine was cancelled
        throw boost::system::system_error{asio::error::operation_aborted};
    if (got->thrown)
        std::rethrow_exception(got->thrown);
    co_return std::move(*got->value);
}

/// Runs `work`, and then returns true, because `abandonable` needs an operation with a result.
inline asio::awaitable<bool> true_after(asio::awaitable<void> work) {
    co_await std::move(work);
    co_return true;
}

/// Waits until the time `length` has passed.
inline asio::awaitable<void> pause(asio::steady_timer::duration length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

} // namespace cli
