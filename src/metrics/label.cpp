// SPDX-License-Identifier: Apache-2.0
#include <holdfast/metrics/collector.hpp>

#include <cstdint>

namespace holdfast::metrics {
namespace {

unsigned byte_at(std::string_view text, std::size_t where) {
    return where < text.size() ? static_cast<unsigned char>(text[where]) : 0;
}

/// Returns the number of bytes that the first byte of a UTF-8 character announces, or 0 if no
/// character begins with this byte.
std::size_t announced(unsigned first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0)
        return 2;
    if (first >= 0xE0 && first < 0xF0)
        return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// Returns the number of bytes of the UTF-8 character at the beginning of the text, or 0 if there
/// is none. Overlong forms, surrogates and numbers above U+10FFFF do not count as characters.
std::size_t letter_size(std::string_view text) {
    const unsigned first = byte_at(text, 0);
    const std::size_t size = announced(first);
    for (std::size_t each = 1; each < size; ++each)
        if ((byte_at(text, each) & 0xC0U) != 0x80)
            return 0;
    const unsigned second = byte_at(text, 1);
    const bool is_too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool is_outside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
    return is_too_long || is_outside ? 0 : size;
}

constexpr std::size_t label_bytes_max = 128;

bool is_control(char letter) {
    const auto value = static_cast<unsigned char>(letter);
    return value < 0x20 || value == 0x7F;
}

} // namespace

std::string label_text(std::string_view text) {
    constexpr std::string_view unknown = "\xEF\xBF\xBD"; // U+FFFD
    constexpr std::string_view more = "...";
    if (text.empty())
        return "(empty)";
    std::string label;
    std::size_t cut_at = 0; // end of the last character after which `more` still has room
    while (!text.empty()) {
        const std::size_t size = letter_size(text);
        const bool is_fine = size > 0 && !is_control(text.front());
        const std::string_view letter = is_fine ? text.substr(0, size) : unknown;
        if (label.size() + letter.size() > label_bytes_max)
            return label.substr(0, cut_at).append(more);
        label += letter;
        if (label.size() + more.size() <= label_bytes_max)
            cut_at = label.size();
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return label;
}

} // namespace holdfast::metrics
