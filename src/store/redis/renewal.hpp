// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::redis {

/// As `lock_store::renew`. Any number of holds, in scripts of at most a hundred, all under way at
/// once. If one of them fails, so does the whole, when all have ended: the answers of the others
/// are dropped, but a renewal may be repeated, and no hold is called lost that may not be.
asio::awaitable<std::vector<answer>> renew_leases(node&, asio::any_io_executor, hold_list,
                                                  duration lease_time);

} // namespace holdfast::redis
