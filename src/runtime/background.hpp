// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace holdfast::runtime {

/// Starts a background loop of a store. The client's close() completes only after the loop has
/// ended. The loop must handle its own errors; an exception that leaves it is a bug. The executor's
/// `run()` then throws that exception, so that the bug does not go unnoticed.
inline void run_in_background(const store_context& home, asio::awaitable<void> loop) {
    asio::co_spawn(
        home.executor, std::move(loop),
        [at_work = home.at_work ? home.at_work() : nullptr](const std::exception_ptr& bug) {
            if (bug)
                std::rethrow_exception(bug);
        });
}

} // namespace holdfast::runtime
