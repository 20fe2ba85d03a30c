// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace holdfast::net {

/// Starts a loop that nobody waits for. It handles what can go wrong; an exception that leaves it
/// is a bug, and comes out of whoever runs the executor instead of leaving a client that does
/// nothing any more.
inline void run_in_background(const asio::any_io_executor& executor, asio::awaitable<void> loop) {
    asio::co_spawn(executor, std::move(loop), [](const std::exception_ptr& bug) {
        if (bug)
            std::rethrow_exception(bug);
    });
}

} // namespace holdfast::net
