// SPDX-License-Identifier: Apache-2.0
#include <holdfast/store.hpp>

#include <charconv>

namespace holdfast {

std::string to_string(const owner_id& owner) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(36 + 1 + 20);
    for (std::size_t i = 0; i < owner.client.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += digits[owner.client[i] >> 4];
        text += digits[owner.client[i] & 0x0f];
    }
    text += ':';
    char number[20];
    const auto end = std::to_chars(number, number + sizeof number, owner.number);
    text.append(number, end.ptr);
    return text;
}

} // namespace holdfast
