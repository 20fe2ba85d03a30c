// SPDX-License-Identifier: Apache-2.0
// Order of the nodes in a lock's queue. Pure functions.
#pragma once

#include "store/zookeeper/formats.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Position of one node in a lock's queue.
struct standing {
    bool there = false;    ///< whether the node exists
    bool first = false;    ///< whether the node holds the lock
    bool conflict = false; ///< an earlier node waits for the hold that this owner upgrades
    /// Node to wait for. Make the next attempt when it was deleted.
    std::string behind{};
};

/// Returns the position of the node `mine`. A reader waits for the last writer before it. An
/// exclusive node waits for the last node before it. `aside` is the owner's own read hold during an
/// upgrade; the node `mine` does not wait for it.
standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside = {});

/// Returns whether a new node in this queue would have to wait.
bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside = {});

/// Returns the holders: one exclusive node, or all readers that share the lock. If a writer has a
/// read node with the same number, that read node is a holder too.
std::vector<contender> holders_among(const std::vector<contender>& in_order);

} // namespace holdfast::zookeeper
