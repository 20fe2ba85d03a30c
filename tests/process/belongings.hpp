// SPDX-License-Identifier: Apache-2.0
// All objects that a process can have when it forks: each kind of lock and counter, held in each
// way.
#pragma once

#include "process/with_server.hpp"

#include <boost/asio/use_future.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace holdfast::process {

struct belongings {
    /// On a thread of the client's own.
    explicit belongings(options how)
        : belongings{client{std::move(how)}} {}

    explicit belongings(client c)
        : home{std::move(c)} {
        shelf.lock();
        prices.lock_shared();
        line.lock();
        held = soon(stock.async_lock(asio::use_future));
    }

    client home;
    mutex stock{home, "stock"}, other{home, "other"};
    recursive_mutex shelf{home, "shelf"}; ///< held by the thread that made this
    shared_mutex prices{home, "prices"};  ///< likewise, to read
    fair_mutex line{home, "line"};        ///< likewise
    fenced_mutex report{home, "report"};
    lease held; ///< of stock
};

/// A call by its name.
template <typename Result>
using named_calls = std::vector<std::pair<const char*, std::function<Result()>>>;

/// All that can fail, in the process that made them or in a child: each gives its code.
named_calls<error_code> blocking_verbs(belongings&);
named_calls<error_code> asynchronous_verbs(belongings&);

} // namespace holdfast::process
