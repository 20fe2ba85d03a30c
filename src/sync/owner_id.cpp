// SPDX-License-Identifier: Apache-2.0
#include <holdfast/store.hpp>

#include <charconv>

namespace holdfast {

// This function is called for every request, so it should allocate memory only once. For this
// reason it writes into a local buffer first.
std::string to_string(const owner_id& owner) {
    static constexpr char digits[] = "0123456789abcdef";
    char text[36 + 1 + 20];
    char* end = text;
    for (std::size_t i = 0; i < owner.client.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *end++ = '-';
        *end++ = digits[owner.client[i] >> 4];
        *end++ = digits[owner.client[i] & 0x0f];
    }
    *end++ = ':';
    return {text, std::to_chars(end, text + sizeof text, owner.number).ptr};
}

std::string permit_id(const owner_id& owner) {
    static constexpr char digits[] = "0123456789abcdef";
    static constexpr std::size_t of_client = 10, of_number = 6;
    std::string text;
    text.reserve(2 * (of_client + of_number));
    const auto write = [&text](std::uint8_t byte) {
        text.append(1, digits[byte >> 4]).append(1, digits[byte & 0x0f]);
    };
    for (std::size_t i = 0; i < of_client; ++i)
        write(owner.client[i]);
    for (std::size_t i = of_number; i-- > 0;)
        write(static_cast<std::uint8_t>(owner.number >> (8 * i)));
    return text;
}

} // namespace holdfast
