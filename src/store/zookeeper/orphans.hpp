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

/// Nodes that shall go, and of which nobody knows yet whether they have: they would keep others
/// from the lock until the session ends. Their deletion is tried after each reconnection, and again
/// and again while there is a connection: a server may be too busy for it. Thread safety:
/// everything on the client's executor.
class orphans {
public:
    explicit orphans(household& home)
        : home_{home} {}

    /// `asked_for`: somebody will ask whether it was deleted here.
    void add(own_node, bool asked_for = false);

    /// All children of `parent` whose names begin so, of the session that is open or will be: the
    /// answer to a request that makes one was lost.
    void add_unseen(std::string parent, std::string prefix);

    /// Whether it was deleted here. Asked once, then that is forgotten.
    bool take_deleted(const own_node&);

    void try_all();       ///< the session goes on, and can be asked
    void session_ended(); ///< with all of its nodes
    void close() noexcept;

    std::size_t count() const noexcept { return left_.size(); }

private:
    struct entry {
        std::string parent;
        std::string name; ///< or its beginning
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

/// Deletes all children of `parent` whose names begin so, if this client's present session made
/// them.
asio::awaitable<void> delete_unseen(household&, std::string parent, std::string prefix);

/// The first of those; nothing: there is none, and none will come of an earlier request.
asio::awaitable<std::vector<own_node>> find_unseen(household&, std::string parent,
                                                   std::string prefix);

} // namespace holdfast::zookeeper
