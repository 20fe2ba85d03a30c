// SPDX-License-Identifier: Apache-2.0
// How the user is told of an argument that cannot be.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Throws `errc::invalid_argument` with these words.
[[noreturn]] void refuse(const std::string& why);

/// In quotes, whatever it is: cut if it is long, and safe for a terminal and a log.
std::string in_quotes(std::string_view bytes);

} // namespace holdfast
