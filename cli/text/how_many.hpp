// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cli {

/// `1 lock`, `2 locks`: of a noun whose plural ends with s.
template <typename Number>
std::string how_many(Number number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace cli
