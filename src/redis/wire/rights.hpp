// SPDX-License-Identifier: Apache-2.0
// Finds out which ACL rights a script lacks, if the error reply does not say so. The reply of Redis
// 7.0 contains neither the refused command, nor its key, nor its channel. The reply of later
// versions contains the command.
#pragma once

#include "redis/script.hpp"

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the rights to grant, in the syntax of ACL SETUSER: `+hset`, `~name`, `&channel`. If
/// several rights may be missing, returns all of them. Empty if the error is not about rights.
std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys);

/// Returns the rights to grant for a subscription to the channel.
std::string missing_right(std::string_view error, std::string_view channel);

/// Returns the error text with the missing right appended. Returns it unchanged if `right` is
/// empty.
std::string with_missing_right(std::string error, std::string_view right);

} // namespace holdfast::redis
