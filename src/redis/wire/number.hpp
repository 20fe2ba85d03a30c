// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Reads a number. Returns nothing unless the whole text is a number.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || behind != end)
        return std::nullopt;
    return value;
}

} // namespace holdfast::redis
