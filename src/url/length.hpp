// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <string>
#include <string_view>

namespace holdfast::url {

/// A length of time as text, and why it is none.
struct length {
    duration value{};
    std::string objection{}; ///< empty: it is one
};

/// `500ms`, `10s`, `5m`, `1h`.
length read_length(std::string_view text);

} // namespace holdfast::url
