// SPDX-License-Identifier: Apache-2.0
// Executor of a user: an io_context with the thread that runs it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace holdfast::support {

class loop_thread {
public:
    loop_thread() = default;
    ~loop_thread() { finish(); }
    loop_thread(const loop_thread&) = delete;

    boost::asio::io_context& io() { return io_; }

    /// Runs all queued work, and the work that it queues, to the end. Then joins the thread.
    void finish() {
        work_.reset();
        if (thread_.joinable())
            thread_.join();
    }

private:
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        io_.get_executor()};
    std::thread thread_{[this] { io_.run(); }};
};

} // namespace holdfast::support
