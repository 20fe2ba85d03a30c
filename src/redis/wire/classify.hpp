// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::redis {

/// What an error reply means. Told by its first word, since the rest differs between Redis, Valkey
/// and their versions; where that word is a mere ERR, by how the text begins.
store_errc classify(std::string_view error);

/// The server does not know the script: not an error but an invitation to send its text.
bool asks_for_script(std::string_view error);

/// It was a primary once, and is none now: whoever wants one must look elsewhere. What it answers
/// so was not carried out, but for UNBLOCKED.
bool tells_of_demotion(std::string_view error);

/// A script met a key that it had not declared, and which is not at this server of a cluster, or is
/// on its way from or to it. What the script did before that is done.
bool tells_of_absence(std::string_view error);

/// It was carried out, and what was to be waited for behind it will not come: the server became a
/// replica meanwhile.
bool was_unblocked(std::string_view error);

} // namespace holdfast::redis
