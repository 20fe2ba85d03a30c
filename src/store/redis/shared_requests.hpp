// SPDX-License-Identifier: Apache-2.0
// The requests of a lock that can be shared. Nobody else names their scripts' keys and arguments.
// Write holds are renewed with the plain ones (plain_requests.hpp).
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// As in `verbs`.
asio::awaitable<attempt> lock_read(node&, const ask&, server_deadline);
asio::awaitable<released> release_read(node&, const hold&);
asio::awaitable<renewed_holds> renew_reads(node&, std::optional<shard> at, hold_list,
                                           const renewal_wishes&);
asio::awaitable<attempt> lock_write(node&, const ask&, server_deadline);
asio::awaitable<released> release_write(node&, const hold&);

} // namespace holdfast::redis
