// SPDX-License-Identifier: Apache-2.0
// Requests of a read-write lock. The keys and arguments of these scripts appear in this unit only.
// Write holds are renewed together with plain locks (plain_requests.hpp).
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// See the members of `verbs`.
asio::awaitable<attempt> lock_read(node&, const ask&, server_deadline);
asio::awaitable<released> release_read(node&, const hold&);
asio::awaitable<renewed_holds> renew_reads(node&, std::optional<shard> at, hold_list,
                                           const renewal_wishes&);
asio::awaitable<attempt> lock_write(node&, const ask&, server_deadline);
asio::awaitable<released> release_write(node&, const hold&);

} // namespace holdfast::redis
