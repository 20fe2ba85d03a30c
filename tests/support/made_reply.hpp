// SPDX-License-Identifier: Apache-2.0
// Functions that make reply objects of the Redis protocol without a server.
#pragma once

#include "redis/client/resp.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis::made {

inline reply nil() {
    return {};
}
inline reply number(std::int64_t value) {
    reply one;
    one.type = reply::kind::integer;
    one.integer = value;
    return one;
}
inline reply text(std::string words, reply::kind type = reply::kind::text) {
    reply one;
    one.type = type;
    one.text = std::move(words);
    return one;
}
inline reply error(std::string words) {
    return text(std::move(words), reply::kind::error);
}
inline reply list(std::vector<reply> items) {
    reply one;
    one.type = reply::kind::array;
    one.items = std::move(items);
    return one;
}
inline reply texts(std::vector<std::string> words) {
    reply one = list({});
    for (std::string& each : words)
        one.items.push_back(text(std::move(each)));
    return one;
}

} // namespace holdfast::redis::made
