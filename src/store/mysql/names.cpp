// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/names.hpp"

#include <cstdint>

namespace holdfast::mysql {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string quoted(std::string_view first, std::string_view suffix) {
    std::string all = "`";
    for (const char each : first) {
        if (each == '`')
            all += '`';
        all += each;
    }
    return all.append(suffix).append("`");
}

/// Returns 32 bits of FNV-1a with a start value that depends on the round. The bits of two names
/// are all equal only if an attacker chose the names. Little harm results: a waiter of the other
/// lock wakes up.
std::uint32_t mixed(std::uint32_t round, std::string_view text) {
    std::uint32_t sum = 2166136261U ^ (round * 0x9e3779b9U);
    for (const char each : text) {
        sum ^= static_cast<unsigned char>(each);
        sum *= 16777619U;
        sum ^= sum >> 15U;
    }
    return sum;
}

} // namespace

tables::tables(std::string_view first)
    : locks{quoted(first, "")}
    , holds{quoted(first, "_hold")}
    , counters{quoted(first, "_counter")}
    , requests{quoted(first, "_request")}
    , identity{quoted(first, "_identity")} {}

std::string hex(std::string_view bytes) {
    std::string all = "X'";
    all.reserve(bytes.size() * 2 + 3);
    for (const char each : bytes) {
        const auto value = static_cast<unsigned char>(each);
        all += digits[value >> 4U];
        all += digits[value & 15U];
    }
    return all += '\'';
}

std::string bell_of(std::string_view schema, std::string_view table, const lock_name& name) {
    std::string text{schema};
    text.append(1, '\0').append(table).append(1, '\0').append(name.text);
    std::string bell = "hf:";
    for (std::uint32_t round = 0; round < 5; ++round)
        for (std::uint32_t sum = mixed(round, text), i = 0; i < 8; ++i, sum <<= 4U)
            bell += digits[sum >> 28U];
    return bell;
}

} // namespace holdfast::mysql
