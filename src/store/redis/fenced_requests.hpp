// SPDX-License-Identifier: Apache-2.0
// The requests of a lock with fencing tokens, where they are not those of a plain one.
#pragma once

#include "store/redis/kinds.hpp"

namespace holdfast::redis {

asio::awaitable<attempt> lock_fenced(node&, const ask&, server_deadline); ///< as in `verbs`

/// The greatest that was given away or reserved; 0: there was none.
asio::awaitable<std::uint64_t> last_token(node&, const lock_name&);

} // namespace holdfast::redis
