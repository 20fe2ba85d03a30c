// SPDX-License-Identifier: Apache-2.0
// Functions that find the meaning of a server's error reply, and the ACL permissions that a refused
// request lacks.
#pragma once

#include "redis/client/resp.hpp"

#include <holdfast/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the meaning of an error reply. The first word decides, because the other words differ
/// between Redis, Valkey and their versions. If the first word is only ERR, the start of the text
/// decides.
store_errc classify(std::string_view error);

/// Returns whether the error means that the server does not know the script. The client must then
/// send the text of the script.
bool asks_for_script(std::string_view error);

/// Returns whether the error means that the server is no longer a primary. The client must then
/// find the new primary. The request was not executed, unless was_unblocked() is true for the
/// error.
bool tells_of_demotion(std::string_view error);

/// Returns whether a script failed because of an undeclared key that this cluster node does not
/// have or is migrating. Earlier writes of the script remain.
bool tells_of_absence(std::string_view error);

/// Returns whether the error means that the server became a replica during a WAIT. The request
/// before the WAIT was executed.
bool was_unblocked(std::string_view error);

// Functions that find the ACL permissions which a script lacks. The error reply often does not name
// them: Redis 7.0 names neither the refused command, nor its key or channel. Later versions name
// the command.

/// Returns the permissions to grant, in the syntax of ACL SETUSER: `+hset`, `~name`, `&channel`.
/// Returns all permissions that may be missing. The result is empty if the error is not about
/// permissions.
std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys);

/// Returns the permissions to grant for a subscription to the channel.
std::string missing_right(std::string_view error, std::string_view channel);

/// Returns the error text, followed by the missing permission `right` if there is one.
std::string with_missing_right(std::string error, std::string_view right);

} // namespace holdfast::redis
