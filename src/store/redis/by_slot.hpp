// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Returns the keys in groups. All keys of a group fit in one request. Without a cluster there is
/// one group.
inline std::vector<std::vector<std::string>> by_slot(const node& server,
                                                     std::vector<std::string> keys) {
    std::map<std::uint16_t, std::vector<std::string>> sorted;
    for (std::string& each : keys)
        sorted[server.slot_of(each)].push_back(std::move(each));
    std::vector<std::vector<std::string>> all;
    all.reserve(sorted.size());
    for (auto& [slot, some] : sorted)
        all.push_back(std::move(some));
    return all;
}

} // namespace holdfast::redis
