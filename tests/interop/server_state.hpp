// SPDX-License-Identifier: Apache-2.0
// What a server holds, as any client could see it.
#pragma once

#include "support/redis_server.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace holdfast::interop {

struct key_state {
    std::string type;
    std::map<std::string, std::string> fields{}; ///< of a hash; of a sorted set the scores
    std::string value{};                         ///< of a string
    std::optional<duration> left{};              ///< nothing: for ever
};

/// All keys but those that a side keeps for itself: unlock latches of JVMs, our cards and memories
/// of requests. Each of those must have an end, or this throws `std::runtime_error`.
std::map<std::string, key_state> state_of(support::redis_server&);

/// Of those keys that no JVM reads, the ones in which we remember requests that change a counter.
std::size_t memories_of_requests(support::redis_server&, const std::string& name);

/// The server's own clock, since 1970.
std::chrono::microseconds time_of(support::redis_server&);

/// Where the releases of a plain lock are told.
std::string channel_of(const std::string& name);

} // namespace holdfast::interop
