// SPDX-License-Identifier: Apache-2.0
// Finds the ACL rights that an error reply does not name. Redis 7.0 names neither the command that
// a script may not call nor the key or channel. Later versions name the command.
#pragma once

#include "redis/script.hpp"

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the rights to grant, as ACL SETUSER writes them: `+hset`, `~name`, `&channel`. If
/// several are possible, returns all of them. Empty if the error is not about rights.
std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys);

/// Does the same for a subscription.
std::string missing_right(std::string_view error, std::string_view channel);

/// Returns the error with the missing right appended, if there is one.
std::string with_missing_right(std::string error, std::string_view right);

} // namespace holdfast::redis
