// SPDX-License-Identifier: Apache-2.0
// Measures how long a client whose connections fail blocks the user's executor.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/contests.hpp"
#include "support/loop_thread.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Timer that should fire every millisecond, and measures how late it fires. The delay does not
/// include the time for which the timer's thread waited for a core of a busy machine. The timer
/// runs until `stop`.
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

/// Executor with its own thread, and a ticker that runs on it.
class watched_executor {
public:
    watched_executor() = default;
    ~watched_executor() { stop(); }
    watched_executor(const watched_executor&) = delete;

    boost::asio::io_context& io() { return loop_.io(); }
    nanoseconds latest() { return ticker_.latest(); }
    void stop(); ///< returns when the executor's thread has ended; may be called again

private:
    support::loop_thread loop_;
    ticker ticker_{loop_.io()};
};

/// Client on a watched executor. Each of its coroutines takes and releases its own lock again and
/// again, and repeats a call that fails.
class working_client {
public:
    explicit working_client(const std::string& url);
    ~working_client();
    working_client(const working_client&) = delete;

    nanoseconds latest() { return executor_.latest(); }
    long long pairs() const { return pairs_; } ///< number of pairs so far

private:
    asio::awaitable<void> work(mutex&);

    watched_executor executor_;
    client client_;
    std::deque<mutex> locks_; // a deque does not move its elements
    std::atomic<bool> is_over_{false};
    std::atomic<long long> pairs_{0};
    std::vector<std::future<void>> workers_;
};

/// Measures how long the client blocks the user's executor at most, compared with an idle executor.
/// There are four situations: the client works (`NAME.work`), its connections are closed repeatedly
/// (`.cut`), its server does not reply (`.silent`), or its server is down and comes back (`.dead`).
/// Throws if the client does not work again afterwards. `progress` is called before each round.
std::vector<figure> hold_standstill(const standstill&, int rounds,
                                    const std::function<void(int round)>& progress);

} // namespace holdfast::bench
