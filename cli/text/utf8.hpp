// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// How many bytes the letter has that `text` begins with; 0: it begins with none.
std::size_t utf8_letter(std::string_view text);

/// The text with `replacement` for each byte that belongs to no letter.
std::string as_utf8(std::string_view text, std::string_view replacement);

/// The text with what `written` makes of each letter that a terminal obeys instead of showing it:
/// control letters above ASCII, and those that turn the direction of what follows.
std::string without_commands(std::string_view text, std::string (*written)(char32_t));

/// How many columns a terminal needs for it, one for each letter; of `printable` text.
std::size_t width_of(std::string_view text);

/// The same within `width` columns: where it is longer, its beginning and `...`.
std::string cut(std::string_view text, std::size_t width);

} // namespace cli
