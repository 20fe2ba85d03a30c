// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace holdfast::runtime {

/// Starts a loop of a store's own: only the end of the client waits for it. It handles what can go
/// wrong; an exception that leaves it is a bug, and comes out of whoever runs the executor instead
/// of leaving a client that does nothing any more.
inline void run_in_background(const store_context& home, asio::awaitable<void> loop) {
    asio::co_spawn(
        home.executor, std::move(loop),
        [at_work = home.at_work ? home.at_work() : nullptr](const std::exception_ptr& bug) {
            if (bug)
                std::rethrow_exception(bug);
        });
}

} // namespace holdfast::runtime
