// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"

#include <string>
#include <vector>

namespace holdfast::support {

/// Returns all keys of a server except three kinds: keys with client information and keys of
/// spin-lock waiters, which expire by themselves, and counters of fencing tokens, which stay.
inline std::vector<std::string> lock_keys(redis_server& server) {
    std::vector<std::string> all;
    for (redis::reply& key : server.command({"KEYS", "*"}).items)
        if (!key.text.starts_with("holdfast_client:") &&
            !key.text.starts_with("redisson_lock_token:") && !key.text.ends_with(":waiters"))
            all.push_back(std::move(key.text));
    return all;
}

} // namespace holdfast::support
