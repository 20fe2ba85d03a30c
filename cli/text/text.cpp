// SPDX-License-Identifier: Apache-2.0
#include "cli/text/text.hpp"

#include <algorithm>
#include <array>
#include <clocale>
#include <cwchar>
#include <numeric>
#include <utility>

#include <locale.h> // newlocale, uselocale

namespace cli {

std::size_t utf8_letter(std::string_view text) {
    struct form {
        unsigned char mask, lead;
        std::size_t bytes;
        char32_t least; // smallest code point with this number of bytes
    };
    constexpr std::array<form, 4> forms{{{0x80, 0x00, 1, 0},
                                         {0xe0, 0xc0, 2, 0x80},
                                         {0xf0, 0xe0, 3, 0x800},
                                         {0xf8, 0xf0, 4, 0x10000}}};
    for (const form& each : forms) {
        if (text.size() < each.bytes)
            return 0;
        const auto first = static_cast<unsigned char>(text[0]);
        if ((first & each.mask) != each.lead)
            continue;
        char32_t letter = first & static_cast<unsigned char>(~each.mask);
        for (std::size_t i = 1; i < each.bytes; ++i) {
            const auto next = static_cast<unsigned char>(text[i]);
            if ((next & 0xc0) != 0x80)
                return 0;
            letter = letter << 6 | (next & 0x3f);
        }
        const bool surrogate = letter >= 0xd800 && letter <= 0xdfff;
        return letter < each.least || letter > 0x10ffff || surrogate ? 0 : each.bytes;
    }
    return 0;
}

std::string as_utf8(std::string_view text, std::string_view replacement) {
    std::string whole;
    while (!text.empty()) {
        const std::size_t bytes = utf8_letter(text);
        whole.append(bytes == 0 ? replacement : text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return whole;
}

namespace {

char32_t value_of(std::string_view letter) {
    constexpr std::array<unsigned char, 5> bits_of_first{0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t value = static_cast<unsigned char>(letter[0]) & bits_of_first[letter.size()];
    for (const char each : letter.substr(1))
        value = value << 6 | (static_cast<unsigned char>(each) & 0x3f);
    return value;
}

bool is_command(char32_t letter) {
    const auto within = [letter](char32_t first, char32_t last) {
        return letter >= first && letter <= last;
    };
    return within(0x7f, 0x9f) || letter == 0x61c || within(0x200e, 0x200f) ||
           within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

} // namespace

std::string without_commands(std::string_view text, std::string (*written)(char32_t)) {
    std::string whole;
    while (!text.empty()) {
        const std::size_t bytes = std::max<std::size_t>(utf8_letter(text), 1);
        const char32_t letter = value_of(text.substr(0, bytes));
        if (is_command(letter))
            whole += written(letter);
        else
            whole.append(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return whole;
}

namespace {

/// Returns the number of terminal columns of a character. The result is 2 for a wide character (for
/// example Chinese), and 0 for a mark that is combined with the character before it.
std::size_t cells_of(char32_t letter) {
    if (letter < 0x80)
        return 1;
    static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (unicode == nullptr)
        return 1;
    const locale_t before = ::uselocale(unicode);
    const int cells = ::wcwidth(static_cast<wchar_t>(letter));
    ::uselocale(before);
    return cells < 0 ? 1 : static_cast<std::size_t>(cells);
}

/// Returns the number of bytes at the start of the text that fit into `width` columns.
std::size_t bytes_within(std::string_view text, std::size_t width) {
    std::size_t used = 0, end = 0;
    while (end < text.size()) {
        const std::size_t bytes = std::max<std::size_t>(utf8_letter(text.substr(end)), 1);
        used += cells_of(value_of(text.substr(end, bytes)));
        if (used > width)
            break;
        end += bytes;
    }
    return end;
}

} // namespace

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const std::size_t bytes = std::max<std::size_t>(utf8_letter(text), 1);
        width += cells_of(value_of(text.substr(0, bytes)));
        text.remove_prefix(bytes);
    }
    return width;
}

std::string_view columns_of(std::string_view text, std::size_t width) {
    const std::size_t least = std::max<std::size_t>(utf8_letter(text), 1);
    return text.substr(0, std::max(bytes_within(text, width), least));
}

namespace {

/// Returns the position of the last letter's first byte. The text must not be empty.
std::size_t last_letter(std::string_view text) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (text[at] & 0xc0) == 0x80)
        --at;
    return at;
}

} // namespace

void remove_last_letter(std::string& text) {
    if (!text.empty())
        text.resize(last_letter(text));
}

std::string_view whole_letters(std::string_view text, std::size_t bytes) {
    if (bytes >= text.size())
        return text;
    constexpr std::size_t longest = 4;
    for (std::size_t back = 1; back < std::min(longest, bytes); ++back)
        if (utf8_letter(text.substr(bytes - back)) > back)
            return text.substr(0, bytes - back);
    return text.substr(0, bytes);
}

std::string cut(std::string_view text, std::size_t width) {
    constexpr std::string_view rest = "...";
    if (width_of(text) <= width)
        return std::string{text};
    const std::size_t kept = bytes_within(text, width - std::min(width, rest.size()));
    return std::string{text.substr(0, kept)}.append(rest.substr(0, width));
}

std::string cut_in_middle(std::string_view text, std::size_t width) {
    constexpr std::string_view rest = "...";
    constexpr std::size_t least = 8; // below this width, both ends would be too short
    if (width_of(text) <= width || width < least)
        return cut(text, width);
    const std::size_t tail_width = (width - rest.size()) / 2;
    const std::string head = cut(text, width - tail_width); // the head includes the dots
    std::size_t tail = text.size();
    for (std::size_t left = tail_width; tail > 0;) {
        const std::size_t letter = last_letter(text.substr(0, tail));
        const std::size_t width_of_letter = width_of(text.substr(letter, tail - letter));
        if (width_of_letter > left)
            break;
        left -= width_of_letter;
        tail = letter;
    }
    return head + std::string{text.substr(tail)};
}

namespace {

/// Returns the number of typing errors that turn one word into the other: a letter that is missing,
/// added or wrong, or two swapped letters.
std::size_t slips_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, std::move(row));
    }
    return last.back();
}

/// Returns the known word that the user probably meant, or null.
const std::string* nearest(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t slips_max = 2, longest_word = 40;
    if (word.size() > longest_word || known.empty())
        return nullptr;
    const auto slips = [word](const std::string& each) { return slips_between(word, each); };
    const auto found = std::ranges::min_element(known, {}, slips);
    // Allow few errors in a short word: with two wrong letters, it would match many other words.
    const std::size_t most = std::min(slips_max, (found->size() + 1) / 3);
    return slips(*found) <= most ? &*found : nullptr;
}

} // namespace

std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb) {
    const std::string help =
        "'holdfast " + std::string{verb}.append(verb.empty() ? "" : " ") + "--help'";
    const std::string* const meant = nearest(word, known);
    return meant ? ": did you mean " + *meant + "? See " + help : "; see " + help;
}

} // namespace cli
