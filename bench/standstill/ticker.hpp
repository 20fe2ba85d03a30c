// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>

namespace holdfast::bench {

/// Wants to be called each millisecond, and sees how late it is. It goes on until `stop`.
class ticker {
public:
    explicit ticker(boost::asio::io_context&);

    /// The latest since this was asked last. Any thread.
    nanoseconds latest() { return nanoseconds{latest_.exchange(0)}; }
    void stop(); ///< on the thread that runs the executor

private:
    void wait();

    boost::asio::steady_timer timer_;
    std::atomic<nanoseconds::rep> latest_{0};
    bool is_over_ = false;
};

} // namespace holdfast::bench
