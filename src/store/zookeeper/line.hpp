// SPDX-License-Identifier: Apache-2.0
// The queue of one lock as operators see it: holders and waiters.
#pragma once

#include "store/zookeeper/household.hpp"
#include "store/zookeeper/order.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// The nodes of one lock at the time when they were read (`line`).
struct line {
    std::vector<std::string> holders{}; ///< paths of the holders' nodes, in queue order
    std::vector<std::string> waiters{}; ///< paths of the waiters' nodes, in queue order
    bool shared = false;                ///< whether the holders are readers
    bool alone = false;                 ///< whether the holder is exclusive
    bool of_pair = false;               ///< whether the nodes belong to a read-write lock
    /// Whether the nodes belong to a mutex. If `of_mutex` and `of_pair` are both false, both kinds
    /// are possible.
    bool of_mutex = false;
    bool semaphore = false; ///< whether a leased semaphore uses the path
};

/// Reads the queue after a sync. The result contains every earlier change of the ensemble.
asio::awaitable<line> read_line(household&, std::string path);
/// Reads the queue from the connected server. Newer changes of the ensemble may be missing.
asio::awaitable<line> read_line_here(household&, std::string path);

/// Maximum number of owners that are read from their nodes' data.
inline constexpr std::size_t owners_told_max = 100;

/// Owner of a node, from the node's data. For a node of another program the owner comes from the
/// node's name.
struct node_owner {
    std::string text{};
    told_owner said{};
    std::uint64_t token = 0;
    bool writes = false;
    bool is_holdfast() const { return !said.owner.empty(); }
};

/// Reads the owners, in the order of the nodes. Omits nodes that no longer exist.
asio::awaitable<std::vector<node_owner>> read_owners(household&, std::vector<std::string> nodes);

} // namespace holdfast::zookeeper
