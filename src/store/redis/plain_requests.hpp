// SPDX-License-Identifier: Apache-2.0
// The requests of a plain lock. Nobody else names their scripts' keys and arguments.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// As in `verbs`.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);
asio::awaitable<released> release_mutex(node&, const hold&);

// Of a spin lock: who waits is not woken, and says that it waits.
asio::awaitable<attempt> lock_spin(node&, const ask&, server_deadline);
asio::awaitable<released> release_spin(node&, const hold&);
asio::awaitable<renewed_holds> renew_leases(node&, std::optional<shard> at, hold_list,
                                            const renewal_wishes&);

} // namespace holdfast::redis
