// SPDX-License-Identifier: Apache-2.0
// Readers that check the form of scripts' replies. The reply may come from a proxy or from another
// program's script, so a reply of an unexpected form is refused.
#pragma once

#include "redis/node.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

/// Returns an integer from 0 to `last`. Throws if the reply has another form.
inline std::int64_t integer_up_to(std::int64_t last, const reply& answer) {
    const std::int64_t said = integer(answer);
    if (said < 0 || said > last)
        throw_unexpected_answer();
    return said;
}

inline const std::string& text(const reply& answer) {
    if (answer.type != reply::kind::text)
        throw_unexpected_answer();
    return answer.text;
}

inline const std::vector<reply>& items(const reply& answer) {
    if (answer.type != reply::kind::array)
        throw_unexpected_answer();
    return answer.items;
}

/// Returns the items of a list. Throws unless the list has `count` items.
inline const std::vector<reply>& items(const reply& answer, std::size_t count) {
    if (items(answer).size() != count)
        throw_unexpected_answer();
    return answer.items;
}

/// Returns the integers of a list. Throws unless the list has `Count` integers.
template <std::size_t Count>
std::array<std::int64_t, Count> integers(const reply& answer) {
    const std::vector<reply>& said = items(answer, Count);
    std::array<std::int64_t, Count> values{};
    for (std::size_t i = 0; i < Count; ++i)
        values[i] = integer(said[i]);
    return values;
}

/// Returns the result of `read`. If the reply has an unexpected form, ends its connection, because
/// each later reply may belong to an earlier request.
template <typename Read>
auto checked(node& from, const reply& answer, Read read) {
    try {
        return read(answer);
    } catch (const boost::system::system_error& why) {
        if (why.code() == store_errc::protocol)
            from.distrust(answer);
        throw;
    }
}

} // namespace holdfast::redis
