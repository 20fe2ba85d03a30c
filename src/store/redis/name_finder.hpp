// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::redis {

struct found_names {
    std::vector<std::string> names;         ///< sorted, without duplicates
    bool complete = true;                   ///< false: `limit` or the bound on steps was reached
    std::vector<std::string> unreachable{}; ///< servers that could not be asked, with the reason
};

// The functions below search in small steps (SCAN, never KEYS), so that other requests need not
// wait. They stop after a few million keys.

/// Returns the keys that match a glob pattern and may be locks.
asio::awaitable<found_names> find_locks(node&, std::string pattern, std::size_t limit);

/// Returns the keys that match a glob pattern and may be counters of the given kind.
asio::awaitable<found_names> find_counters(node&, counter_kind, std::string pattern,
                                           std::size_t limit);

} // namespace holdfast::redis
