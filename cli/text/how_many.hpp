// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cli {

/// Returns `1 lock` or `2 locks`. The plural of the noun must end with s.
template <typename Number>
std::string how_many(Number number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace cli
