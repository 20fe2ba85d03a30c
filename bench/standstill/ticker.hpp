// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>

namespace holdfast::bench {

/// Wants to be called each millisecond, and sees how late it is, less what its thread waited for a
/// core meanwhile: on a busy machine any thread does. It goes on until `stop`.
class ticker {
public:
    explicit ticker(boost::asio::io_context&);

    /// The latest since this was asked last. Any thread.
    nanoseconds latest() { return nanoseconds{latest_.exchange(0)}; }
    void stop(); ///< on the thread that runs the executor

private:
    void wait();
    void be_called();

    boost::asio::steady_timer timer_;
    std::atomic<nanoseconds::rep> latest_{0};
    double without_core_ = 0; // seconds, until the last call
    bool is_over_ = false;
};

} // namespace holdfast::bench
