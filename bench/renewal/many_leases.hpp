// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <vector>

namespace holdfast::bench {

/// Many locks that one client holds at the same time. The client runs on the thread that calls this
/// object.
class many_leases {
public:
    many_leases(const arena&, int count);
    many_leases(const many_leases&) = delete;
    ~many_leases();

    void take();    ///< returns when all locks are held
    void release(); ///< returns when all releases are acknowledged
    bool are_held() const;

    /// Runs only the client's own work until `over` returns true. Calls `over` every 200 ms.
    void keep_until(const std::function<bool()>& over);

private:
    /// Runs `step` for each lock. Runs many steps at the same time.
    void for_each(asio::awaitable<void> (many_leases::*step)(int i));
    asio::awaitable<void> every_nth(asio::awaitable<void> (many_leases::*step)(int i), int first);
    asio::awaitable<void> take_one(int i);
    asio::awaitable<void> release_one(int i);

    asio::io_context loop_{1};
    client client_;
    const int count_;
    std::vector<lease> leases_;
};

} // namespace holdfast::bench
