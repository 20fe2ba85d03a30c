// SPDX-License-Identifier: Apache-2.0
#include <holdfast/store.hpp>

#include <charconv>

namespace holdfast {

// On the hot path: written into place, and one allocation.
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

} // namespace holdfast
