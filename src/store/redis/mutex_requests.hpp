// SPDX-License-Identifier: Apache-2.0
// The two requests of a plain lock. Nobody else names their scripts' keys and arguments.
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

namespace holdfast::redis {

using remote::attempt;
using remote::verdict;

/// Granted to who holds it already, late if the server comes to it after `deadline`. Arguments
/// live until it has completed.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);

/// What came of a release.
struct released {
    bool was_ours = false;
    bool denied_message = false; ///< the server may not tell who waits
    std::int64_t receivers = 0;  ///< connections that were told
};

/// As often as one likes. Arguments live until it has completed.
asio::awaitable<released> release_mutex(node&, const hold&);

} // namespace holdfast::redis
