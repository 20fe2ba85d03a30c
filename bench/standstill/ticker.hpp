// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>

namespace holdfast::bench {

/// Timer that should fire every millisecond. It measures how late it fires. It subtracts the time
/// during which its thread waited for a core, because that happens to any thread on a busy machine.
/// It runs until `stop`.
class ticker {
public:
    explicit ticker(boost::asio::io_context&);

    /// Returns the longest delay since the last call. Any thread may call this function.
    nanoseconds latest() { return nanoseconds{latest_.exchange(0)}; }
    void stop(); ///< call on the thread that runs the executor

private:
    void wait();
    void be_called();

    boost::asio::steady_timer timer_;
    std::atomic<nanoseconds::rep> latest_{0};
    double without_core_ = 0; // seconds, until the last tick
    bool is_over_ = false;
};

} // namespace holdfast::bench
