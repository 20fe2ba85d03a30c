// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// Records the grant and the renewals of each lease. The server sends keyspace notifications about
/// them. A connection with its own thread receives the notifications.
class watcher {
public:
    /// Starts to watch the locks with numbers below `leases`.
    watcher(const arena&, int leases);
    watcher(const watcher&) = delete;

    /// Turns the server's notifications off.
    ~watcher();

    /// Returns how many leases have been renewed at least once.
    int renewed() const { return renewed_; }

    /// Returns the longest time between two renewals of a lease, or between its grant and its first
    /// renewal. Call it after all leases have been renewed.
    nanoseconds longest_without() const { return nanoseconds{longest_}; }

private:
    void listen();
    void heard(int lease, stopwatch::time_point);

    struct seen {
        stopwatch::time_point last{};
        bool renewed = false;
    };

    const connection control_, ear_;
    std::vector<seen> leases_; // used only by the listening thread
    std::atomic<int> renewed_{0};
    std::atomic<nanoseconds::rep> longest_{0};
    std::jthread listener_;
};

} // namespace holdfast::bench
