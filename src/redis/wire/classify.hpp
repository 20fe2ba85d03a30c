// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::redis {

/// Returns the meaning of an error reply. The first word decides, because the other words differ
/// between Redis, Valkey and their versions. If the first word is only ERR, the beginning of the
/// text decides.
store_errc classify(std::string_view error);

/// Returns whether the error means that the server does not know the script. The client must then
/// send the text of the script.
bool asks_for_script(std::string_view error);

/// Returns whether the error means that the server is not a primary any more. The client must then
/// find the new primary. The request was not carried out, except after UNBLOCKED; see
/// was_unblocked().
bool tells_of_demotion(std::string_view error);

/// Returns whether the error means that a script used an undeclared key that this cluster node does
/// not have or is migrating. The writes of the script before that point remain.
bool tells_of_absence(std::string_view error);

/// Returns whether the error means that a WAIT ended because the server became a replica. The
/// request before the WAIT was carried out.
bool was_unblocked(std::string_view error);

} // namespace holdfast::redis
