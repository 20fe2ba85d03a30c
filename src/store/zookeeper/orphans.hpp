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

/// List of nodes that must be deleted, with no confirmation of their deletion yet (`orphans`).
/// Until the session ends they would block other clients. The deletion is tried after each
/// reconnection. While there is a connection, it is also repeated after pauses, because a server
/// may be too busy. Thread safety: call everything on the client's executor.
class orphans {
public:
    explicit orphans(household& home)
        : home_{home} {}

    /// Adds a node. `asked_for` says that `take_deleted` will be called for this node.
    void add(own_node, bool asked_for = false);

    /// Adds all children of `parent` with the name prefix `prefix` that the current or next session
    /// makes. Call it after the answer to the creation of a node was lost.
    void add_unseen(std::string parent, std::string prefix);

    /// Returns whether this object has deleted the node. The call also removes that information.
    bool take_deleted(const own_node&);

    void try_all();       ///< tries all deletions; call it when the session has a connection again
    void session_ended(); ///< forgets all nodes, because the server deletes them with the session
    void close() noexcept;

    std::size_t count() const noexcept { return left_.size(); }

private:
    struct entry {
        std::string parent;
        std::string name; ///< name of the node; only a prefix of the name if `unseen`
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

/// Deletes the children of `parent` with the name prefix `prefix`, if this client's current session
/// made them.
asio::awaitable<void> delete_unseen(household&, std::string parent, std::string prefix);

/// Returns the children of `parent` with the name prefix `prefix` that this client's current
/// session made, oldest first. If the result is empty, no earlier request will make a child any
/// more.
asio::awaitable<std::vector<own_node>> find_unseen(household&, std::string parent,
                                                   std::string prefix);

} // namespace holdfast::zookeeper
