// SPDX-License-Identifier: Apache-2.0
// Requests of a plain lock. The keys and arguments of these scripts appear in this unit only.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// See the members of `verbs`.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);
asio::awaitable<released> release_mutex(node&, const hold&);

// Functions for a spin lock. Its waiters get no notifications. They record at the server that they
// are waiting.
asio::awaitable<attempt> lock_spin(node&, const ask&, server_deadline);
asio::awaitable<released> release_spin(node&, const hold&);
asio::awaitable<renewed_holds> renew_leases(node&, std::optional<shard> at, hold_list,
                                            const renewal_wishes&);

} // namespace holdfast::redis
