// SPDX-License-Identifier: Apache-2.0
// Inspection of locks for operators: finds lock names, reads and watches the queue of a lock, and
// ends holds by force.
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
    bool complete = true;         ///< false: the search stopped at its maximum number of nodes
};

/// Returns the names of locks below the root that match a glob pattern. If names are paths,
/// searches the folder before the pattern's first wildcard, and all folders below it.
asio::awaitable<found_paths> find_paths(store_session&, std::string pattern);

/// Holders and waiters of one lock at the time when they were read. Each of them has a node.
struct line {
    std::vector<std::string> holders{}; ///< paths of the holders' nodes, in queue order
    std::vector<std::string> waiters{}; ///< paths of the waiters' nodes, in queue order
    bool shared = false;                ///< true: the holders are readers
    bool alone = false;                 ///< true: the holder is exclusive
    bool of_pair = false;               ///< true: the lock is a read-write lock
    /// True: the lock is a mutex. If both this and `of_pair` are false, the names of the nodes fit
    /// both a mutex and a read-write lock.
    bool of_mutex = false;
    bool semaphore = false; ///< true: a leased semaphore uses the path
};

/// Reads the queue after a sync, so that the result contains all earlier changes.
asio::awaitable<line> read_line(store_session&, std::string path);
/// Reads the queue from the connected server without a sync. The latest changes may be missing.
asio::awaitable<line> read_line_here(store_session&, std::string path);

/// Maximum number of owners that are read. Each owner costs a request for the data of a node.
inline constexpr std::size_t owners_told_max = 100;

/// Owner of a node. Usually the owner comes from the node's data. If another program created the
/// node, the owner comes from the node's name.
struct node_owner {
    std::string text{};
    told_owner said{};
    std::uint64_t token = 0;
    bool writes = false;
    bool is_holdfast() const { return !said.owner.empty(); }
};

/// Reads the owners of the first `most` nodes of the list, in the order of the list. Skips nodes
/// that no longer exist.
asio::awaitable<std::vector<node_owner>> read_owners(store_session&, std::vector<std::string> nodes,
                                                     std::size_t most = owners_told_max);

/// Implements `inspector::listen`. Rings the alarm whenever a node joins or leaves the queue. In a
/// long queue, this causes much traffic. So waiters do not use this watch; only calls that observe
/// a lock use it.
asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<store_session>, std::string path,
                                                   alarm& wake);

/// Shows the holds of a lock and ends them by force. The holds may be from Curator, kazoo or
/// holdfast.
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
