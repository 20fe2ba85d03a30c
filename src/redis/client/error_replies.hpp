// SPDX-License-Identifier: Apache-2.0
// Functions that return the meaning of a server's error reply, and the ACL permissions that a
// refused request lacks.
#pragma once

#include "redis/client/resp.hpp"

#include <holdfast/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the meaning of an error reply. The first word decides, because Redis, Valkey and their
/// versions differ in the other words. If the first word is only ERR, the beginning of the text
/// decides.
store_errc classify(std::string_view error);

/// Returns whether the error means that the server does not know the script. The client must then
/// send the text of the script.
bool asks_for_script(std::string_view error);

/// Returns whether the error means that the server is no longer a primary. The client must then
/// find the new primary. The request was not executed, except after UNBLOCKED; see was_unblocked().
bool tells_of_demotion(std::string_view error);

/// Returns whether a script failed because it used an undeclared key that this cluster node does
/// not have or is migrating. The earlier writes of the script remain.
bool tells_of_absence(std::string_view error);

/// Returns whether the error means that a WAIT ended because the server became a replica. The
/// request before the WAIT was executed.
bool was_unblocked(std::string_view error);

// Functions that find out which ACL permissions a script lacks, even if the error reply does not
// say so. The reply of Redis 7.0 contains neither the refused command, nor its key or channel. The
// reply of later versions contains the command.

/// Returns the permissions to grant, in the syntax of ACL SETUSER: `+hset`, `~name`, `&channel`. If
/// several permissions may be missing, returns all of them. The result is empty if the error is not
/// about permissions.
std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys);

/// Returns the permissions to grant for a subscription to the channel.
std::string missing_right(std::string_view error, std::string_view channel);

/// Returns the error text, followed by the missing permission `right`. If `right` is empty, returns
/// the text unchanged.
std::string with_missing_right(std::string error, std::string_view right);

} // namespace holdfast::redis
