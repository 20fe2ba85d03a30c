// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes as an answer of any shape: bytes alone would hardly ever be one.
#pragma once

#include "input.hpp"
#include "redis/client/resp.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace holdfast::fuzz {

/// What is at an edge more often than not.
inline std::int64_t any_number(input& all) {
    constexpr std::int64_t far = std::int64_t{1} << 31;
    constexpr std::array<std::int64_t, 14> edges{0,
                                                 1,
                                                 2,
                                                 8191,
                                                 8192,
                                                 16382,
                                                 16383,
                                                 16384,
                                                 65535,
                                                 65536,
                                                 -1,
                                                 far,
                                                 std::int64_t{1} << 32,
                                                 std::numeric_limits<std::int64_t>::min()};
    const std::size_t which = all.choice(edges.size() + 2);
    if (which < edges.size())
        return edges.at(which);
    return static_cast<std::int64_t>(all.choice(256) * 64 + all.choice(64));
}

/// `words`: what is there more often than not.
template <std::size_t Count>
std::string any_text(input& all, const std::array<const char*, Count>& words) {
    const std::size_t which = all.choice(Count + 1);
    return which < Count ? words.at(which) : std::string{all.piece(all.choice(40))};
}

template <std::size_t Count>
redis::reply any_reply(input& all, const std::array<const char*, Count>& words, int depth = 0) {
    using kind = redis::reply::kind;
    constexpr int depth_max = 4;
    redis::reply made;
    switch (all.choice(depth < depth_max ? 8 : 5)) {
    case 0:
        return made;
    case 1:
    case 2:
        made.type = kind::integer;
        made.integer = any_number(all);
        return made;
    case 3:
        made.type = all.choice(8) == 0 ? kind::error : kind::text;
        [[fallthrough]];
    case 4:
        made.type = made.type == kind::nil ? kind::text : made.type;
        made.text = any_text(all, words);
        return made;
    default:
        made.type = kind::array;
        for (std::size_t items = all.choice(6); items > 0 && !all.empty(); --items)
            made.items.push_back(any_reply(all, words, depth + 1));
        return made;
    }
}

} // namespace holdfast::fuzz
