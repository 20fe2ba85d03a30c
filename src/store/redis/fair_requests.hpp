// SPDX-License-Identifier: Apache-2.0
// Requests of a fair lock, on the keys of Redisson's RedissonFairLock (docs/protocol/fair.md).
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// See the members of `verbs`.
asio::awaitable<attempt> lock_fair(node&, const ask&, server_deadline);
asio::awaitable<released> release_fair(node&, const hold&);

} // namespace holdfast::redis
