// SPDX-License-Identifier: Apache-2.0
// Guard around code of the user that runs inside functions of this library and may throw.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace holdfast::sync {

/// Runs a handler of the user. If the handler throws, the executor's run function throws the
/// exception later, as usual with Asio. So the exception does not interrupt the library's code that
/// called the handler.
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
