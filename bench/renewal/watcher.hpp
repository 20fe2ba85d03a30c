// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// Sees every lease as the server does: granted, then renewed. The server tells it of each
/// (keyspace notifications), on a connection and a thread of its own.
class watcher {
public:
    /// Locks 0 to `leases` are watched from now on.
    watcher(const arena&, int leases);
    watcher(const watcher&) = delete;

    /// The server tells nothing any more.
    ~watcher();

    /// Leases that have been renewed at least once.
    int renewed() const { return renewed_; }

    /// The longest that any of them had to do without, from its grant or a renewal to the next one.
    /// To be asked when all are renewed.
    nanoseconds longest_without() const { return nanoseconds{longest_}; }

private:
    void listen();
    void heard(int lease, stopwatch::time_point);

    struct seen {
        stopwatch::time_point last{};
        bool renewed = false;
    };

    const connection control_, ear_;
    std::vector<seen> leases_; // the listener's
    std::atomic<int> renewed_{0};
    std::atomic<nanoseconds::rep> longest_{0};
    std::jthread listener_;
};

} // namespace holdfast::bench
