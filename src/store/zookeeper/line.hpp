// SPDX-License-Identifier: Apache-2.0
// What operators see of one lock: who has it, and who waits.
#pragma once

#include "store/zookeeper/household.hpp"
#include "store/zookeeper/order.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// The nodes of one lock, a moment ago.
struct line {
    std::vector<std::string> holders{}; ///< paths, who came first before
    std::vector<std::string> waiters{}; ///< likewise
    bool shared = false;                ///< some of the holders read
    bool alone = false;                 ///< one of them has it alone
    bool of_pair = false;               ///< a read-write lock's
    bool of_mutex = false;              ///< a mutex's; neither: it may be of either kind
    bool semaphore = false;             ///< a leased semaphore has the path
};

/// After all that the ensemble has done until now.
asio::awaitable<line> read_line(household&, std::string path);
/// As the server has it that answers: it may be behind.
asio::awaitable<line> read_line_here(household&, std::string path);

/// So many are told by name.
inline constexpr std::size_t owners_told_max = 100;

/// Who made a node, as it says itself or, of another program, by its name.
struct node_owner {
    std::string text{};
    told_owner said{};
    std::uint64_t token = 0;
    bool writes = false;
    bool is_holdfast() const { return !said.owner.empty(); }
};

/// In that order, but for those that have gone meanwhile.
asio::awaitable<std::vector<node_owner>> read_owners(household&, std::vector<std::string> nodes);

} // namespace holdfast::zookeeper
