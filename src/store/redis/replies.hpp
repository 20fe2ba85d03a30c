// SPDX-License-Identifier: Apache-2.0
// What the scripts answer, checked for its shape: a proxy or another program's script can answer
// anything, and nothing may be believed that was not said.
#pragma once

#include "redis/wire/reply.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <cstddef>

namespace holdfast::redis {

[[noreturn]] inline void throw_unexpected_answer() {
    throw boost::system::system_error{make_error_code(store_errc::protocol),
                                      "an answer that no script of holdfast gives"};
}

inline std::int64_t integer(const reply& answer) {
    if (answer.type != reply::kind::integer)
        throw_unexpected_answer();
    return answer.integer;
}

inline const std::vector<reply>& items(const reply& answer) {
    if (answer.type != reply::kind::array)
        throw_unexpected_answer();
    return answer.items;
}

/// Exactly so many integers.
template <std::size_t Count>
std::array<std::int64_t, Count> integers(const reply& answer) {
    const std::vector<reply>& said = items(answer);
    if (said.size() != Count)
        throw_unexpected_answer();
    std::array<std::int64_t, Count> values{};
    for (std::size_t i = 0; i < Count; ++i)
        values[i] = integer(said[i]);
    return values;
}

} // namespace holdfast::redis
