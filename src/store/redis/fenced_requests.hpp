// SPDX-License-Identifier: Apache-2.0
// Requests of a lock with fencing tokens, as far as they differ from those of a plain lock.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

/// Takes the lock (`verbs::take`).
asio::awaitable<attempt> lock_fenced(node&, const ask&, server_deadline);

/// Returns the greatest token that was granted or reserved; 0 if there was none.
asio::awaitable<std::uint64_t> last_token(node&, const lock_name&);

} // namespace holdfast::redis
