// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <string>
#include <string_view>

namespace holdfast::url {

/// Result of read_length(): a length of time, or the reason why the text is invalid.
struct length {
    duration value{};
    std::string objection{}; ///< reason why the text is invalid; empty: `value` is valid
};

/// Reads a length of time such as `500ms`, `10s`, `5m`, `1h`.
length read_length(std::string_view text);

} // namespace holdfast::url
