// SPDX-License-Identifier: Apache-2.0
// Requests of a lock with fencing tokens, where they differ from the requests of a plain lock.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

/// Takes the lock; see `verbs::take`.
asio::awaitable<attempt> lock_fenced(node&, const ask&, server_deadline);

/// Returns the greatest token that was granted or reserved; 0 if there was none.
asio::awaitable<std::uint64_t> last_token(node&, const lock_name&);

} // namespace holdfast::redis
