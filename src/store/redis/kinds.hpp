// SPDX-License-Identifier: Apache-2.0
// What the kinds of locks differ in, at this store: a row of functions for each.
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <vector>

namespace holdfast::redis {

using remote::attempt;
using remote::verdict;

/// What came of a release.
struct released {
    bool was_ours = false;
    bool denied_message = false; ///< the server may not tell who waits
    std::int64_t receivers = 0;  ///< connections that were told
};

/// How one kind is kept. Arguments live until a request has completed.
struct verbs {
    /// Granted to who holds it already, late if the server comes to it after the deadline.
    asio::awaitable<attempt> (*take)(node&, const ask&, server_deadline);

    /// As often as one likes. Afterwards this owner has nothing there.
    asio::awaitable<released> (*release)(node&, const hold&);

    /// Which of them are still their owners', by one script: holds of one client, and of kinds that
    /// have this function.
    asio::awaitable<std::vector<bool>> (*renew)(node&, hold_list, const renewal_wishes&);

    /// Where whoever waits for such a hold is told of releases.
    channel_name (*told_on)(const hold&);

    /// Whether who finds it busy, and waits, leaves something there that must be taken away.
    bool leaves_traces = false;
};

/// Null: this store keeps no such locks.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::redis
