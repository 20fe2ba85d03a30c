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

/// The nodes of one lock at the moment when they were read.
struct line {
    std::vector<std::string> holders{}; ///< paths, in queue order
    std::vector<std::string> waiters{}; ///< paths, in queue order
    bool shared = false;                ///< some holders are readers
    bool alone = false;                 ///< one holder is exclusive
    bool of_pair = false;               ///< the nodes belong to a read-write lock
    /// The nodes belong to a mutex. If neither this nor `of_pair` is set, either kind is possible.
    bool of_mutex = false;
    bool semaphore = false; ///< a leased semaphore has the path
};

/// Reads the queue after a sync, so that it has everything that the ensemble has done.
asio::awaitable<line> read_line(household&, std::string path);
/// Reads the queue at the connected server, which may be behind the ensemble.
asio::awaitable<line> read_line_here(household&, std::string path);

/// Maximum number of owners that are read from their nodes.
inline constexpr std::size_t owners_told_max = 100;

/// Owner of a node, from the node's data. For nodes of other programs it is taken from the name.
struct node_owner {
    std::string text{};
    told_owner said{};
    std::uint64_t token = 0;
    bool writes = false;
    bool is_holdfast() const { return !said.owner.empty(); }
};

/// Reads the owners, in the order of the nodes. Nodes that do not exist any more are left out.
asio::awaitable<std::vector<node_owner>> read_owners(household&, std::vector<std::string> nodes);

} // namespace holdfast::zookeeper
