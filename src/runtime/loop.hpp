// SPDX-License-Identifier: Apache-2.0
// The background thread of a client, and the clock that runs on it.
#pragma once

#include "runtime/real_clock.hpp"

#include <memory>
#include <thread>

namespace holdfast::runtime {

/// Background thread that runs an io_context until the object is destroyed. The destructor joins
/// the thread. If the destructor runs on that thread (a handler dropped the last lease), the thread
/// ends by itself later.
class loop {
public:
    loop();
    ~loop();
    loop(const loop&) = delete;

    asio::any_io_executor executor() const;
    clock& time() const;

private:
    struct inside;
    std::shared_ptr<inside> inside_; // shared with the thread
    std::thread thread_;
};

/// Returns whether the calling thread runs `executor` now, or is inside its monitor as a visitor.
/// This works only for the executors of io_context and thread_pool, with or without a strand.
bool runs_here(const asio::any_io_executor& executor);

/// Returns whether the calling thread is executing a function inside `executor`. A posted function
/// then runs later. For a strand, the thread must be inside the strand, not only in its pool.
bool is_inside(const asio::any_io_executor& executor);

} // namespace holdfast::runtime
