// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// Sees each lease as the server does: its grant and its renewals. The server sends keyspace
/// notifications, which a connection with its own thread receives.
class watcher {
public:
    /// Begins to watch locks 0 to `leases`.
    watcher(const arena&, int leases);
    watcher(const watcher&) = delete;

    /// Ends the notifications of the server.
    ~watcher();

    /// Returns how many leases have been renewed at least once.
    int renewed() const { return renewed_; }

    /// Returns the longest time between two renewals of a lease, or between its grant and first
    /// renewal. Call it when all leases are renewed.
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
