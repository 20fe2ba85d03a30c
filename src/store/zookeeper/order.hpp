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
    bool there = false;    ///< the node exists
    bool first = false;    ///< it holds the lock
    bool conflict = false; ///< a node before it waits for the hold that it upgrades
    /// The node to wait for. When that node is deleted, look again.
    std::string behind{};
};

/// Returns the position of the node `mine`. A reader waits for the last writer before it; an
/// exclusive node waits for the last node before it. Neither waits for `aside`, which is the
/// owner's own read hold that a writer upgrades.
standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside = {});

/// Returns whether a new node would have to wait.
bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside = {});

/// Returns the holders: one exclusive node, or all readers that share the lock. A writer's own read
/// node with the same number is also a holder.
std::vector<contender> holders_among(const std::vector<contender>& in_order);

} // namespace holdfast::zookeeper
