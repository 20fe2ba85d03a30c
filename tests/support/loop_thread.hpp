// SPDX-License-Identifier: Apache-2.0
// An io_context with a thread that runs it, as a user of the library may have one.
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

    /// Waits until all work is done, including new work that it queues. Then joins the thread.
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
