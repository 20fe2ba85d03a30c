// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::redis {

struct found_names {
    std::vector<std::string> names;         ///< sorted, without repetition
    bool complete = true;                   ///< false: `limit` or the bound on steps was reached
    std::vector<std::string> unreachable{}; ///< servers that could not be asked, and why
};

// The functions below ask in small steps (SCAN, never KEYS), so that other requests need not wait.
// They stop after some millions of keys.

/// Returns the keys that may be locks and match a glob pattern.
asio::awaitable<found_names> find_locks(node&, std::string pattern, std::size_t limit);

/// Returns the keys that may be counters of that kind and match a glob pattern.
asio::awaitable<found_names> find_counters(node&, counter_kind, std::string pattern,
                                           std::size_t limit);

} // namespace holdfast::redis
