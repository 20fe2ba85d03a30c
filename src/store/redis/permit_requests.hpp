// SPDX-License-Identifier: Apache-2.0
// Requests of a leased semaphore. Some take, renew and return permits; the others change or read
// the number of permits.
#pragma once

#include "store/redis/counter_requests.hpp"
#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// See the members of `verbs`.
asio::awaitable<attempt> lease_permits(node&, const ask&, server_deadline);
asio::awaitable<released> return_permits(node&, const hold&);
asio::awaitable<renewed_holds> renew_permits(node&, std::optional<shard> at, hold_list,
                                             const renewal_wishes&);

// See counter_requests.hpp. The arguments must live until the request has completed.
asio::awaitable<changed> change_permits(node&, const counter_change&, remembered, server_deadline);
asio::awaitable<counter_state> inspect_permits(node&, const lock_name&);

} // namespace holdfast::redis
