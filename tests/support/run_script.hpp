// SPDX-License-Identifier: Apache-2.0
// Runs the library's scripts on a plain connection, for tests of the scripts alone.
#pragma once

#include "redis/client/resp.hpp"
#include "support/redis_connection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::support {

/// Runs a script by sending EVAL with its whole text. `Connection` is a `redis_connection` or a
/// `redis_server`.
template <typename Connection>
redis::reply run_script(Connection& at, const redis::script& what, std::vector<std::string> keys,
                        std::vector<std::string> arguments) {
    std::vector<std::string> words{"EVAL", std::string{what.text}, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return at.command(words);
}

/// Returns the integers in a reply, and skips all other items. Returns an empty list for an error.
inline std::vector<std::int64_t> integers_of(const redis::reply& answer) {
    std::vector<std::int64_t> all;
    for (const redis::reply& each : answer.items)
        if (each.type == redis::reply::kind::integer)
            all.push_back(each.integer);
    return all;
}

} // namespace holdfast::support
