// SPDX-License-Identifier: Apache-2.0
// The requests of a fair lock: as Redisson's RedissonFairLock keeps it (docs/protocol/fair.md).
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// As in `verbs`.
asio::awaitable<attempt> lock_fair(node&, const ask&, server_deadline);
asio::awaitable<released> release_fair(node&, const hold&);

} // namespace holdfast::redis
