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
    std::map<std::string, std::string> fields{}; ///< of a hash
    std::optional<duration> left{};              ///< nothing: for ever
};

/// All keys but unlock latches, which a JVM writes for itself; each of those must have an end, or
/// this throws `std::runtime_error`.
std::map<std::string, key_state> state_of(support::redis_server&);

/// The server's own clock, since 1970.
std::chrono::microseconds time_of(support::redis_server&);

/// Where the releases of a plain lock are told.
std::string channel_of(const std::string& name);

} // namespace holdfast::interop
