// SPDX-License-Identifier: Apache-2.0
// Who comes before whom. Pure.
#pragma once

#include "store/zookeeper/formats.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Where one stands among all who hold a lock or wait for it.
struct standing {
    bool there = false;    ///< its node is among them
    bool first = false;    ///< it holds the lock
    bool conflict = false; ///< who is before it waits for what it holds already
    std::string behind{};  ///< the node to wait for: when that goes, it may be its turn
};

/// Of the node `mine`: who reads waits for the last before it that does not, who has the lock alone
/// for whoever is before it. But not for `aside`, its own read hold, above which it would write.
standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside = {});

/// Whether somebody is there whom a newcomer would have to wait for.
bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside = {});

/// Who has it: one alone, or all who share it.
std::vector<contender> holders_among(const std::vector<contender>& in_order);

} // namespace holdfast::zookeeper
