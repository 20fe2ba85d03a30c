// SPDX-License-Identifier: Apache-2.0
// Errors for invalid arguments of the user.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Throws `errc::invalid_argument` with this text.
[[noreturn]] void refuse(const std::string& why);

/// Returns the bytes as a quoted string that is safe for terminals and logs. A long string is cut.
std::string in_quotes(std::string_view bytes);

} // namespace holdfast
