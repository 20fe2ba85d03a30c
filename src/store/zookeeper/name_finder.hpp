// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <string>
#include <vector>

namespace holdfast::zookeeper {

struct found_paths {
    struct entry {
        std::string name;
        std::string path;
    };
    std::vector<entry> entries{}; ///< in the order of their names
    bool complete = true;         ///< false: there are more than could be looked at
};

/// The names below the root that match a glob pattern. Where names are paths: those of nodes in the
/// folder that the pattern names before its first special letter, and in the folders below it.
asio::awaitable<found_paths> find_paths(household&, std::string pattern);

} // namespace holdfast::zookeeper
