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
    std::vector<entry> entries{}; ///< sorted by name
    bool complete = true;         ///< false: there are more nodes than were searched
};

/// Returns the names below the root that match a glob pattern. If names are paths, the search
/// covers the folder before the pattern's first wildcard and all folders below it.
asio::awaitable<found_paths> find_paths(household&, std::string pattern);

} // namespace holdfast::zookeeper
