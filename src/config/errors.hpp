// SPDX-License-Identifier: Apache-2.0
// Descriptions of all error codes, and functions that report invalid arguments of the user. The
// messages of the codes and the tables in docs/errors.md are made from the descriptions.
#pragma once

#include <holdfast/error.hpp>

#include <string>
#include <string_view>

namespace holdfast {

/// Description of one error code. Each text consists of one or more complete sentences.
struct explanation {
    const char* name;    ///< name in the enumeration
    const char* meaning; ///< what happened
    const char* known;   ///< what the caller knows after the error
    const char* advice;  ///< what the caller should do
};

/// Description of a server's error. Its text `known` is the text of the `errc` that this error is
/// equal to.
struct store_explanation : explanation {
    const char* words; ///< beginning of the server's error message
    errc equal_to;
};

/// Returns the description of a code. If the number is not a code, only `meaning` is set; its text
/// says that the number is not an error of holdfast.
explanation explain(errc) noexcept;
store_explanation explain(store_errc) noexcept;

// Functions that report invalid arguments of the user.

/// Throws `errc::invalid_argument` with this text.
[[noreturn]] void refuse(const std::string& why);

/// Returns the bytes as a quoted string that is safe for terminals and logs. A long string is cut.
std::string in_quotes(std::string_view bytes);

} // namespace holdfast
