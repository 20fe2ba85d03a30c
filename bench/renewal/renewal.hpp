// SPDX-License-Identifier: Apache-2.0
// Measures the cost of renewal: one client holds many leases, on one server or on several.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/contests.hpp"
#include "bench/server/server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// Many locks that one client holds at the same time. The client runs on the calling thread.
class many_leases {
public:
    many_leases(const arena&, int count);
    many_leases(const many_leases&) = delete;
    ~many_leases();

    void take();    ///< returns when all locks are held
    void release(); ///< returns when all releases are acknowledged
    bool are_held() const;

    /// Runs the client until `over` returns true. Calls `over` every 200 ms.
    void keep_until(const std::function<bool()>& over);

private:
    /// Runs `step` for each lock, many of them at the same time.
    void for_each(asio::awaitable<void> (many_leases::*step)(int i));
    asio::awaitable<void> every_nth(asio::awaitable<void> (many_leases::*step)(int i), int first);
    asio::awaitable<void> take_one(int i);
    asio::awaitable<void> release_one(int i);

    asio::io_context loop_{1};
    client client_;
    const int count_;
    std::vector<lease> leases_;
};

/// Records the grant and the renewals of each lease. The server reports them as keyspace
/// notifications, which a connection with its own thread receives.
class watcher {
public:
    /// Starts to watch the locks with numbers below `leases`.
    watcher(const arena&, int leases);
    watcher(const watcher&) = delete;

    /// Turns the server's notifications off.
    ~watcher();

    /// Returns how many leases have been renewed at least once.
    int renewed() const { return renewed_; }

    /// Returns the longest time between two renewals of a lease, or between a grant and the first
    /// renewal. Call it after all leases have been renewed.
    nanoseconds longest_without() const { return nanoseconds{longest_}; }

private:
    void listen();
    void heard(int lease, stopwatch::time_point);

    struct seen {
        stopwatch::time_point last{};
        bool renewed = false;
    };

    const connection control_, subscriber_;
    std::vector<seen> leases_; // used only by the listening thread
    std::atomic<int> renewed_{0};
    std::atomic<nanoseconds::rep> longest_{0};
    std::jthread listener_;
};

/// Measures the cost of many leases: `NAME.bytes` and `NAME.client_cpu` (memory and CPU use of this
/// process), `NAME.server_cpu`, and `NAME.delay` of the latest renewal. Calls `progress` with the
/// name of each step. Throws if a lease is lost or was not renewed.
std::vector<figure> hold_vigil(const vigil&, const arena&, accounts&,
                               const std::function<void(const char*)>& progress);

/// Compares the cost of many leases on several primaries with the cost of as many leases on one
/// server. Both measurements run at the same time, each with its own client and thread.
/// `NAME.client_cpu` is the CPU use of the client's thread. `NAME.server_cpu` is the CPU use of all
/// servers of that client. Throws if a lease is lost or was not renewed.
std::vector<figure> keep_beside_one_server(const shared_vigil&, const arena& of_several,
                                           const arena& of_one);

} // namespace holdfast::bench
