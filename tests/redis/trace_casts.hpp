// SPDX-License-Identifier: Apache-2.0
// In whose place our client stands when a recording of two JVMs is replayed.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace holdfast::trace {

struct cast {
    std::string name;
    std::set<std::string> ours;
};

inline const std::vector<cast>& all_casts() {
    static const std::vector<cast> all{{"InThePlaceOfBoth", {client1, client2}},
                                       {"InThePlaceOfTheFirst", {client1}},
                                       {"InThePlaceOfTheSecond", {client2}},
                                       {"RedissonAlone", {}}};
    return all;
}

/// As a GoogleTest name may be.
inline std::string as_test_name(std::string text) {
    for (char& letter : text)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return text;
}

} // namespace holdfast::trace
