// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::redis {

struct found_names {
    std::vector<std::string> names; ///< in their order, each once
    bool complete = true;           ///< false: `limit`, or the bound on looking, was reached
    std::vector<std::string> unreachable{}; ///< servers that could not be asked, and why
};

// Each asks step by step (SCAN, never KEYS), so that nobody else waits for it, and gives up after
// some millions of keys.

/// The keys that may be locks and match a glob pattern.
asio::awaitable<found_names> find_locks(node&, std::string pattern, std::size_t limit);

/// Those that may be counters of that kind.
asio::awaitable<found_names> find_counters(node&, counter_kind, std::string pattern,
                                           std::size_t limit);

} // namespace holdfast::redis
