// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "config/validation.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/ticket.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

// The text of a ticket has nine fields with a colon after each of the first eight:
//
//     holdfast1:KIND:UUID:NUMBER:PERMITS:TOKEN:SERVER:NAME:CHECKSUM
//
// SERVER and NAME may contain any bytes. A byte other than a letter, a digit and `._-/` is written
// as `%` and two hexadecimal digits. CHECKSUM is the CRC-32 of the text before it.

namespace holdfast {
namespace {

constexpr std::string_view version = "holdfast1";
constexpr std::size_t fields = 9;
constexpr std::size_t checksum_digits = 8;

/// Greatest number of an owner. A permit id contains the number in six bytes.
constexpr std::uint64_t owner_numbers_max = (std::uint64_t{1} << 48) - 1;

constexpr std::array<std::pair<lock_kind, std::string_view>, 8> kinds{{
    {lock_kind::plain, "plain"},
    {lock_kind::spin, "spin"},
    {lock_kind::fenced, "fenced"},
    {lock_kind::fair, "fair"},
    {lock_kind::read, "read"},
    {lock_kind::write, "write"},
    {lock_kind::token, "token"},
    {lock_kind::permit, "permit"},
}};

[[noreturn]] void refuse_text(const std::string& why) {
    refuse("ticket: " + why);
}

std::uint32_t checksum_of(std::string_view text) {
    constexpr std::uint32_t polynomial = 0xedb88320;
    std::uint32_t crc = 0xffffffff;
    for (const char byte : text) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    }
    return ~crc;
}

std::string hexadecimal(std::uint32_t value, std::size_t digits) {
    std::string text;
    for (std::size_t i = digits; i-- > 0;)
        text.push_back("0123456789abcdef"[(value >> (4 * i)) & 0x0f]);
    return text;
}

bool is_literal(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-' ||
           letter == '/';
}

std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char each : bytes) {
        if (is_literal(each))
            text.push_back(each);
        else
            text.append("%").append(hexadecimal(static_cast<std::uint8_t>(each), 2));
    }
    return text;
}

/// Reads a whole number in the given base. Returns false if the text is not such a number.
template <typename Number>
bool read_number(std::string_view text, Number& value, int base) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    return !text.empty() && error == std::errc{} && stop == end;
}

std::string unescaped(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::uint8_t value = 0;
        if (text[at] != '%')
            bytes.push_back(text[at]);
        else if (at + 2 < text.size() && read_number(text.substr(at + 1, 2), value, 16)) {
            bytes.push_back(static_cast<char>(value));
            at += 2;
        } else
            refuse_text("a character is not written correctly");
    }
    return bytes;
}

lock_kind kind_in(std::string_view text) {
    for (const auto& [kind, name] : kinds)
        if (name == text)
            return kind;
    refuse_text("the kind " + in_quotes(text) + " is unknown");
}

/// Reads a UUID with hyphens into the 16 bytes of a client's identity.
void read_client(std::string_view text, owner_id& owner) {
    std::string digits;
    for (const char each : text)
        if (each != '-')
            digits.push_back(each);
    bool is_well = digits.size() == 2 * owner.client.size();
    for (std::size_t i = 0; is_well && i < owner.client.size(); ++i)
        is_well = read_number(std::string_view{digits}.substr(2 * i, 2), owner.client[i], 16);
    if (!is_well)
        refuse_text("the client is not a UUID");
}

template <typename Number>
void read_field(std::string_view text, Number& value, const char* what) {
    if (!read_number(text, value, 10))
        refuse_text(std::string{"the "} + what + " is not a number");
}

std::array<std::string_view, fields> fields_of(std::string_view text) {
    std::array<std::string_view, fields> all;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < fields; ++i) {
        const std::size_t end = text.find(':', at);
        if (end == text.npos)
            refuse_text("the text is not complete");
        all[i] = text.substr(at, end - at);
        at = end + 1;
    }
    all.back() = text.substr(at);
    return all;
}

} // namespace

void check(const ticket& from) {
    const std::uint32_t most =
        from.kind == lock_kind::permit ? leased_semaphore::most_at_once : std::uint32_t{1};
    if (from.permits == 0 || from.permits > most)
        refuse_text("the number of permits is " + std::to_string(from.permits) +
                    "; allowed are 1 to " + std::to_string(most));
    if (from.owner.number > owner_numbers_max - from.permits)
        refuse_text("the owner's number is too great");
}

std::string to_string(const ticket& from) {
    std::string text{version};
    const auto add = [&text](std::string_view field) { text.append(":").append(field); };
    for (const auto& [kind, name] : kinds)
        if (kind == from.kind)
            add(name);
    add(to_string(from.owner)); // has the fields UUID and NUMBER
    add(std::to_string(from.permits));
    add(std::to_string(from.token));
    add(escaped(from.server));
    add(escaped(from.name));
    text.append(":");
    return text + hexadecimal(checksum_of(text), checksum_digits);
}

ticket ticket::from_string(std::string_view text) {
    if (!text.starts_with("holdfast"))
        refuse_text("the text does not begin with " + std::string{version});
    if (!text.starts_with(std::string{version} + ":"))
        refuse_text("another version of holdfast has written it");
    const std::array<std::string_view, fields> all = fields_of(text);
    std::uint32_t checksum = 0;
    const std::string_view summed = text.substr(0, text.size() - all.back().size());
    if (all.back().size() != checksum_digits || !read_number(all.back(), checksum, 16) ||
        checksum != checksum_of(summed))
        refuse_text("the check sum is wrong, so the text is not complete or was changed");
    ticket made;
    made.kind = kind_in(all[1]);
    read_client(all[2], made.owner);
    read_field(all[3], made.owner.number, "owner's number");
    read_field(all[4], made.permits, "number of permits");
    read_field(all[5], made.token, "fencing token");
    made.server = unescaped(all[6]);
    made.name = unescaped(all[7]);
    check(made);
    return made;
}

} // namespace holdfast
