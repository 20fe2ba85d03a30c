// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// Returns the number of bytes of the UTF-8 character at the start of `text`. Returns 0 if there is
/// no valid character.
std::size_t utf8_letter(std::string_view text);

/// Returns the text. Each byte that is not part of a valid character is replaced by `replacement`.
std::string as_utf8(std::string_view text, std::string_view replacement);

/// Returns the text. Calls `written` for each character that controls a terminal, and inserts its
/// result instead. These are control characters above ASCII, and characters that change the
/// direction of text.
std::string without_commands(std::string_view text, std::string (*written)(char32_t));

/// Returns the number of terminal columns for a `printable` text: one for each character.
std::size_t width_of(std::string_view text);

/// Cuts the text to `width` columns. A cut text ends with `...`.
std::string cut(std::string_view text, std::size_t width);

} // namespace cli
