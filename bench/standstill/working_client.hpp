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

/// An executor, which one thread runs, and nothing on it but a ticker.
class watched_executor {
public:
    watched_executor() = default;
    ~watched_executor() { stop(); }
    watched_executor(const watched_executor&) = delete;

    boost::asio::io_context& io() { return loop_.io(); }
    nanoseconds latest() { return ticker_.latest(); }
    void stop(); ///< returns when nothing runs there any more; may be repeated

private:
    support::loop_thread loop_;
    ticker ticker_{loop_.io()};
};

/// A client on such an executor, for which some coroutines take and release a lock each, over and
/// over. What fails is asked for again.
class working_client {
public:
    explicit working_client(const std::string& url);
    ~working_client();
    working_client(const working_client&) = delete;

    nanoseconds latest() { return executor_.latest(); }
    long long pairs() const { return pairs_; } ///< so far

private:
    asio::awaitable<void> work(mutex&);

    watched_executor executor_;
    client client_;
    std::deque<mutex> locks_; // they do not move
    std::atomic<bool> is_over_{false};
    std::atomic<long long> pairs_{0};
    std::vector<std::future<void>> workers_;
};

} // namespace holdfast::bench
