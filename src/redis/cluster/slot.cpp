// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/slot.hpp"

#include <array>

namespace holdfast::redis {
namespace {

/// Table of the CRC-16/XMODEM of each byte: its remainder after division by x^16 + x^12 + x^5 + 1.
constexpr std::array<std::uint16_t, 256> remainders = [] {
    std::array<std::uint16_t, 256> all{};
    for (unsigned byte = 0; byte < all.size(); ++byte) {
        unsigned rest = byte << 8;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest << 1) ^ ((rest & 0x8000) != 0 ? 0x1021u : 0u);
        all[byte] = static_cast<std::uint16_t>(rest);
    }
    return all;
}();

} // namespace

std::string_view hashed_part(std::string_view key) {
    const std::size_t open = key.find('{');
    if (open == key.npos)
        return key;
    const std::size_t close = key.find('}', open);
    if (close == key.npos || close == open + 1)
        return key;
    return key.substr(open + 1, close - open - 1);
}

std::uint16_t key_slot(std::string_view key) {
    std::uint16_t rest = 0;
    for (const char c : hashed_part(key)) {
        const auto next = static_cast<std::uint8_t>((rest >> 8) ^ static_cast<std::uint8_t>(c));
        rest = static_cast<std::uint16_t>((rest << 8) ^ remainders[next]);
    }
    return static_cast<std::uint16_t>(rest % slot_count);
}

} // namespace holdfast::redis
