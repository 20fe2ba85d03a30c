// SPDX-License-Identifier: Apache-2.0
#include "redis/wire/info.hpp"

#include <algorithm>

namespace holdfast::redis {

std::string_view info_field(std::string_view info, std::string_view field) {
    while (!info.empty()) {
        const std::string_view line = info.substr(0, info.find('\n'));
        info.remove_prefix(std::min(line.size() + 1, info.size()));
        if (line.size() > field.size() && line.starts_with(field) && line[field.size()] == ':')
            return line.substr(field.size() + 1, line.find('\r') - field.size() - 1);
    }
    return {};
}

} // namespace holdfast::redis
