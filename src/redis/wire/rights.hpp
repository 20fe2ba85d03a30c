// SPDX-License-Identifier: Apache-2.0
// What a refusal for want of rights leaves out. Redis 7.0 names neither the command that a script
// may not call nor a key or channel; later ones name the command.
#pragma once

#include "redis/script.hpp"

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// What to grant, as ACL SETUSER spells it: `+hset`, `~name`, `&channel`; where the server's words
/// leave a choice, all of it. Empty if the error is not about rights.
std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys);

/// The same of a subscription.
std::string missing_right(std::string_view error, std::string_view channel);

/// The error with what is missing behind it, where there is something to say.
std::string with_missing_right(std::string error, std::string_view right);

} // namespace holdfast::redis
