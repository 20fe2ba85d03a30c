// SPDX-License-Identifier: Apache-2.0
// A client's own background thread, and the clock that runs on it.
#pragma once

#include "runtime/real_clock.hpp"

#include <memory>
#include <thread>

namespace holdfast::runtime {

/// Runs until it is destroyed. If that happens on the thread itself (the last lease was dropped in
/// a handler), the thread ends behind it.
class loop {
public:
    loop();
    ~loop();
    loop(const loop&) = delete;

    asio::any_io_executor executor() const;
    clock& time() const;

private:
    struct inside;
    std::shared_ptr<inside> inside_; // the thread's as well
    std::thread thread_;
};

/// Whether the calling thread runs `executor` now, as far as that can be told: io_context and
/// thread_pool, bare or in a strand; or visits its monitor.
bool runs_here(const asio::any_io_executor& executor);

/// Whether the calling thread is inside `executor`, so that what is posted there runs later: not
/// merely beside a strand on a thread that could run it.
bool is_inside(const asio::any_io_executor& executor);

} // namespace holdfast::runtime
