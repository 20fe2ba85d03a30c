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

} // namespace holdfast::redis
