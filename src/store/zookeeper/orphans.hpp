// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/own_node.hpp"

#include <holdfast/asio.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

class household;

/// Nodes that must be deleted, and whose deletion is not confirmed yet. They would block other
/// clients until the session ends. The deletion is tried after each reconnection, and again and
/// again while there is a connection, because a server may be too busy. Thread safety: call
/// everything on the client's executor.
class orphans {
public:
    explicit orphans(household& home)
        : home_{home} {}

    /// Adds a node. `asked_for` says that `take_deleted` will be called for it.
    void add(own_node, bool asked_for = false);

    /// Adds all children of `parent` with that name prefix that the current or next session makes.
    /// Call it after the answer to a creation was lost.
    void add_unseen(std::string parent, std::string prefix);

    /// Returns whether the node was deleted here, and forgets that.
    bool take_deleted(const own_node&);

    void try_all();       ///< call it when the session has a connection again
    void session_ended(); ///< forgets all nodes, because they were deleted with the session
    void close() noexcept;

    std::size_t count() const noexcept { return left_.size(); }

private:
    struct entry {
        std::string parent;
        std::string name; ///< name, or name prefix if `unseen`
        bool unseen;
        bool asked_for = false;
    };

    bool can_try() const;
    asio::awaitable<void> keep_trying(std::shared_ptr<household>);
    asio::awaitable<void> try_each(household&);
    asio::awaitable<void> try_one(entry);

    household& home_;
    std::list<entry> left_;
    std::vector<std::string> deleted_;
    std::shared_ptr<alarm> wake_;
    bool trying_ = false;
};

/// Deletes all children of `parent` with that name prefix that this client's current session has
/// made.
asio::awaitable<void> delete_unseen(household&, std::string parent, std::string prefix);

/// Returns the children of `parent` with that name prefix that this client's current session has
/// made, the oldest first. If it returns none, none will be made by an earlier request.
asio::awaitable<std::vector<own_node>> find_unseen(household&, std::string parent,
                                                   std::string prefix);

} // namespace holdfast::zookeeper
