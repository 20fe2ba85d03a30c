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

/// Executor that one thread runs, with only a ticker on it.
class watched_executor {
public:
    watched_executor() = default;
    ~watched_executor() { stop(); }
    watched_executor(const watched_executor&) = delete;

    boost::asio::io_context& io() { return loop_.io(); }
    nanoseconds latest() { return ticker_.latest(); }
    void stop(); ///< returns when nothing runs there any more; may be called again

private:
    support::loop_thread loop_;
    ticker ticker_{loop_.io()};
};

/// Client on such an executor. Some coroutines take and release a lock each, again and again. A
/// failed call is repeated.
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
