// SPDX-License-Identifier: Apache-2.0
// Guard around code of the user that runs inside our own functions and may throw.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace holdfast::sync {

/// Runs a handler of the user. If the handler throws, the exception is thrown out of the executor's
/// run function later, as usual with Asio. So it does not end our own loop, hand-off or close below
/// it.
template <typename Handler>
void run_users_own(const asio::any_io_executor& executor, Handler&& handler) {
    try {
        std::forward<Handler>(handler)();
    } catch (...) {
        auto throw_again = [thrown = std::current_exception()] { std::rethrow_exception(thrown); };
        asio::post(executor, std::move(throw_again));
    }
}

} // namespace holdfast::sync
