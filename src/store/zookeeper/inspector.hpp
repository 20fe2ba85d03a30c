// SPDX-License-Identifier: Apache-2.0
// Inspection of locks for operators: the search for names, the queue of a lock, the watch of a
// queue, and the inspector, which can also end holds by force.
#pragma once

#include "store/zookeeper/nodes.hpp"
#include "store/zookeeper/store_session.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <memory>
#include <optional>
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
asio::awaitable<found_paths> find_paths(store_session&, std::string pattern);

// The queue of one lock as operators see it: holders and waiters.

/// Nodes of one lock (`line`) at the time when they were read: its holders and waiters.
struct line {
    std::vector<std::string> holders{}; ///< paths of the holders' nodes, in queue order
    std::vector<std::string> waiters{}; ///< paths of the waiters' nodes, in queue order
    bool shared = false;                ///< true: the holders are readers
    bool alone = false;                 ///< true: the holder is exclusive
    bool of_pair = false;               ///< true: the nodes belong to a read-write lock
    /// Whether the nodes belong to a mutex. If both this field and `of_pair` are false, the names
    /// of the nodes fit a mutex and also a read-write lock.
    bool of_mutex = false;
    bool semaphore = false; ///< true: a leased semaphore uses the path
};

/// Reads the queue after a sync. The result contains every earlier change of the ensemble.
asio::awaitable<line> read_line(store_session&, std::string path);
/// Reads the queue from the connected server. Newer changes of the ensemble may be missing.
asio::awaitable<line> read_line_here(store_session&, std::string path);

/// Maximum number of owners that are read from their nodes' data.
inline constexpr std::size_t owners_told_max = 100;

/// Owner of a node. It is read from the node's data, or from the node's name if another program
/// made the node.
struct node_owner {
    std::string text{};
    told_owner said{};
    std::uint64_t token = 0;
    bool writes = false;
    bool is_holdfast() const { return !said.owner.empty(); }
};

/// Reads the owners of the first `most` nodes, in the order of the nodes. Omits nodes that no
/// longer exist.
asio::awaitable<std::vector<node_owner>> read_owners(store_session&, std::vector<std::string> nodes,
                                                     std::size_t most = owners_told_max);

/// Implements `inspector::listen`. The alarm rings for each node that is added to the queue or
/// removed from it. For a long queue this causes much traffic. So waiters do not use this watch;
/// only calls that observe the lock use it.
asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<store_session>, std::string path,
                                                   alarm& wake);

/// Inspector that shows the holds of a lock and ends them by force. The holds may be Curator's,
/// kazoo's or holdfast's.
class lock_inspector final : public inspector {
public:
    explicit lock_inspector(std::shared_ptr<store_session> home)
        : home_{std::move(home)} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    asio::awaitable<forced> end(line, std::string only_from);
    asio::awaitable<std::optional<lock_state>> describe_at(std::string path, std::string name);

    const std::shared_ptr<store_session> home_;
};

} // namespace holdfast::zookeeper
