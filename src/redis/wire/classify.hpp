// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::redis {

/// Returns the meaning of an error reply. The first word decides, because the rest differs between
/// Redis, Valkey and their versions. If the first word is only ERR, the beginning of the text
/// decides.
store_errc classify(std::string_view error);

/// Returns whether the server does not know the script. The client must send the text of the script
/// then.
bool asks_for_script(std::string_view error);

/// Returns whether the server is not a primary any more. The client must find the new primary. The
/// request was not carried out, except after UNBLOCKED; see was_unblocked().
bool tells_of_demotion(std::string_view error);

/// Returns whether a script used an undeclared key that this cluster node does not have or is
/// migrating. The effects of the script before that point remain.
bool tells_of_absence(std::string_view error);

/// Returns whether a WAIT ended because the server became a replica. The request itself was carried
/// out.
bool was_unblocked(std::string_view error);

} // namespace holdfast::redis
