// SPDX-License-Identifier: Apache-2.0
// What is a user's runs inside of what is ours, and may throw.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace holdfast::sync {

/// Runs a handler of a user's. What it throws comes out of whoever runs the executor, as always in
/// Asio, and ends nothing of ours that happens to be below it: a loop, a hand-off, a close.
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
