// SPDX-License-Identifier: Apache-2.0
// The requests of a semaphore whose permits are leased: of those that are held, and of how many
// there are.
#pragma once

#include "store/redis/counter_requests.hpp"
#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// As in `verbs`.
asio::awaitable<attempt> lease_permits(node&, const ask&, server_deadline);
asio::awaitable<released> return_permits(node&, const hold&);
asio::awaitable<renewed_holds> renew_permits(node&, std::optional<shard> at, hold_list,
                                             const renewal_wishes&);

// As of the other counters. Arguments live until a request has completed.
asio::awaitable<changed> change_permits(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_permits(node&, const lock_name&);

} // namespace holdfast::redis
