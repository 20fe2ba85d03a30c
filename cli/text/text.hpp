// SPDX-License-Identifier: Apache-2.0
// Functions on texts: UTF-8, width on a terminal, plurals, and advice on a mistyped word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Returns the number of bytes of the UTF-8 character at the start of `text`. Returns 0 if there is
/// no valid character.
std::size_t utf8_letter(std::string_view text);

/// Replaces each byte that is not part of a valid UTF-8 character by `replacement`.
std::string as_utf8(std::string_view text, std::string_view replacement);

/// Replaces each non-ASCII character that can control a terminal by the result of `written`. These
/// are control characters, and characters that change the direction of text.
std::string without_commands(std::string_view text, std::string (*written)(char32_t));

/// Returns the number of terminal columns that a `printable` text needs. A wide character, for
/// example a Chinese one, needs two columns, and a combining mark needs none.
std::size_t width_of(std::string_view text);

/// Returns at most the first `bytes` bytes of the text. Never cuts a UTF-8 character.
std::string_view whole_letters(std::string_view text, std::size_t bytes);

/// Returns the beginning of the text that fits into `width` columns, but at least one character.
std::string_view columns_of(std::string_view text, std::size_t width);

/// Removes the last UTF-8 character of the text, if there is any.
void remove_last_letter(std::string& text);

/// Cuts the text to `width` columns. A cut text ends with `...`.
std::string cut(std::string_view text, std::size_t width);

/// Cuts the text to `width` columns. A cut text has `...` in its middle, because names often differ
/// only at the end.
std::string cut_in_middle(std::string_view text, std::size_t width);

/// Returns `1 lock` or `2 locks`. The plural of the noun must end with s.
template <typename Number>
std::string how_many(Number number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

/// Returns advice on an unknown word: `: did you mean …? See …` if a known word is similar, else `;
/// see …`. The advice names the help of `verb`, or of the whole program if `verb` is empty.
std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb);

} // namespace cli
