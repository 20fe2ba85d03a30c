// SPDX-License-Identifier: Apache-2.0
// Requests of a token lock, which is a string with its owner's token: `SET key token NX PX`.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

// See the members of `verbs`.
asio::awaitable<attempt> lock_token(node&, const ask&, server_deadline);
asio::awaitable<released> release_token(node&, const hold&);
asio::awaitable<renewed_holds> renew_tokens(node&, std::optional<shard> at, hold_list,
                                            const renewal_wishes&);

} // namespace holdfast::redis
