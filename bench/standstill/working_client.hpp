// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/standstill/ticker.hpp"
#include "support/loop_thread.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <deque>
#include <future>
#include <string>
#include <vector>

namespace holdfast::bench {

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

/// Client on a watched executor. Some coroutines take and release locks repeatedly. Each coroutine
/// has its own lock. It repeats a failed call.
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

} // namespace holdfast::bench
