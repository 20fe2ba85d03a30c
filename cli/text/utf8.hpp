// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// Returns the number of bytes of the UTF-8 character at the start of `text`; 0 if there is no
/// valid character.
std::size_t utf8_letter(std::string_view text);

/// Returns the text with `replacement` for each byte that is not part of a valid character.
std::string as_utf8(std::string_view text, std::string_view replacement);

/// Returns the text in which `written` replaces each character that a terminal would obey: control
/// characters above ASCII, and characters that change the direction of text.
std::string without_commands(std::string_view text, std::string (*written)(char32_t));

/// Returns the number of columns that a terminal needs for a `printable` text, one for each
/// character.
std::size_t width_of(std::string_view text);

/// Cuts the text to `width` columns. A cut text ends with `...`.
std::string cut(std::string_view text, std::size_t width);

} // namespace cli
