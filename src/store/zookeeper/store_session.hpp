// SPDX-License-Identifier: Apache-2.0
// State that all parts of one store share (`store_session`): the session, the nodes of its holds,
// the watches of these nodes, and the nodes that must still be deleted.
#pragma once

#include "store/zookeeper/nodes.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/asio.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

class store_session;

/// Watches the nodes of this client's holds. If another program deletes the node of a hold, the
/// holder is notified at once. A watch is set only some time after the grant, because most holds
/// are released earlier. Thread safety: call everything on the client's executor.
class node_watcher {
public:
    explicit node_watcher(store_session& home)
        : home_{home} {}
    node_watcher(const node_watcher&) = delete;

    std::unique_ptr<watch> over(own_node, revalidator& whom);

    void try_again(); ///< sets the watches that could not be set before
    void close() noexcept;

private:
    struct entry;
    using entries = std::list<std::shared_ptr<entry>>;
    class membership;

    void wait_for(const std::shared_ptr<entry>&);
    asio::awaitable<void> run(std::shared_ptr<store_session>);
    asio::awaitable<void> set(std::weak_ptr<entry>);
    void changed(const std::weak_ptr<entry>&);

    store_session& home_;
    /// Holds whose nodes are not watched yet, in the order in which the watches must be set.
    entries unwatched_;
    entries watched_;
    std::shared_ptr<alarm> wake_;
    bool running_ = false;
};

/// Table of the nodes of each hold of this client. A hold itself does not contain the names of its
/// nodes, because the server chose their numbers. Thread safety: call everything on the client's
/// executor.
class holdings {
public:
    void keep(const hold& what, std::vector<own_node> nodes) {
        all_.insert_or_assign(key_of(what), std::move(nodes));
    }
    /// Returns the nodes of the hold, or null if this client no longer has the hold.
    const std::vector<own_node>* find(const hold& what) const {
        const auto found = all_.find(key_of(what));
        return found == all_.end() ? nullptr : &found->second;
    }
    void forget(const hold& what) { all_.erase(key_of(what)); }
    bool empty() const noexcept { return all_.empty(); }

private:
    /// Name of the lock, and number of the owner. An owner number is used for one hold only.
    using key = std::pair<std::string, std::uint64_t>;
    static key key_of(const hold& what) { return {what.name.text, what.owner.number}; }

    std::map<key, std::vector<own_node>> all_;
};

/// List of nodes whose deletion is not confirmed yet. Until the session ends, these nodes would
/// block other clients. The deletion is repeated after each reconnection. While the connection
/// stays open, it is also repeated after pauses, because the server may be too busy. Thread safety:
/// call everything on the client's executor.
class undeleted_nodes {
public:
    explicit undeleted_nodes(store_session& home)
        : home_{home} {}

    /// Adds a node. `asked_for` says that the caller will call take_deleted() for this node.
    void add(own_node, bool asked_for = false);

    /// Adds the children of `parent` whose names begin with `prefix`, if this session or the next
    /// session creates them. Call this function if the answer to the creation of such a child was
    /// lost.
    void add_unseen(std::string parent, std::string prefix);

    /// Returns whether this object has deleted the node. After this call, the object does not
    /// remember the deletion any more.
    bool take_deleted(const own_node&);

    void try_all();       ///< tries all deletions; call it after a reconnection
    void session_ended(); ///< forgets all nodes: the server deletes them with the session
    void close() noexcept;

    std::size_t count() const noexcept { return left_.size(); }

private:
    struct entry {
        std::string parent;
        std::string name; ///< name of the node; if `unseen`, only its start
        bool unseen;
        bool asked_for = false;
    };

    bool can_try() const;
    asio::awaitable<void> keep_trying(std::shared_ptr<store_session>);
    asio::awaitable<void> try_each(store_session&);
    asio::awaitable<void> try_one(entry);

    store_session& home_;
    std::list<entry> left_;
    std::vector<std::string> deleted_;
    std::shared_ptr<alarm> wake_;
    bool trying_ = false;
};

/// Deletes the children of `parent` that this client's current session has created and whose names
/// begin with `prefix`.
asio::awaitable<void> delete_unseen(store_session&, std::string parent, std::string prefix);

/// Returns the children of `parent` that this client's current session has created and whose names
/// begin with `prefix`, oldest first. If there are none, no earlier request can create such a child
/// later. Starts no request after `last_start`.
asio::awaitable<std::vector<own_node>> find_unseen(store_session&, std::string parent,
                                                   std::string prefix,
                                                   time_point last_start = time_point::max());

/// State that all parts of one store share. Running operations keep it alive.
class store_session : public std::enable_shared_from_this<store_session> {
public:
    store_session(std::unique_ptr<session>, store_context, const options&);
    store_session(const store_session&) = delete;
    ~store_session();

    void begin(); ///< call it once, after a shared_ptr owns the object
    void close() noexcept;

    const store_context context;
    const paths where;
    const node_form form;
    const std::unique_ptr<session> at;
    holdings held;
    undeleted_nodes left_behind;
    node_watcher own_watches;

    bool is_closed() const noexcept { return closed_; }

    /// Returns an object that keeps the session alive. While the object exists, the client sends
    /// writes to keep the session alive, and not only pings.
    std::shared_ptr<void> in_use() { return at->in_use(); }
    void keep(const hold&, std::vector<own_node>);
    void forget(const hold&);

    /// Returns whether the session that created the node is still open. If so, the node exists,
    /// unless another program has deleted it.
    bool lives(const own_node& node) const { return node.session == at->state().id; }

    /// Returns how long a hold is valid, counted from `began`. The result depends on the answers
    /// that the ensemble has sent so far.
    duration term_since(time_point began) const;

    /// Waits until it is certain that the session will live for a while. Call this function before
    /// a grant is reported. The wait ends one command timeout after `last_start` at the latest,
    /// which is when the attempt ends.
    asio::awaitable<void> prove_session(time_point last_start) {
        const time_point answer_by = last_start + at->command_timeout();
        co_await at->prove_alive(answer_by);
    }

    /// Returns the data for a node of this client. If a writer upgrades a read hold, `above` is the
    /// node of this read hold; otherwise it is empty.
    std::string data_for(const owner_id&, std::string_view above = {}) const;

    /// Creates the node and the missing nodes above it. `last` is the mode of the node. A container
    /// node is deleted by the ensemble some time after its last child was deleted. Starts no
    /// request after `last_start`.
    asio::awaitable<void> make_path(std::string path, node_mode last = node_mode::container,
                                    time_point last_start = time_point::max());

    /// Returns the time after which an attempt starts no request. The attempt began at `began`. One
    /// request can take one command timeout, so the attempt ends within two command timeouts
    /// (`limits::time_limit`).
    time_point last_start(time_point began) const { return began + at->command_timeout(); }
    /// Throws `unreachable` if the time `last_start` has passed. The caller keeps its nodes, so
    /// that its next attempt can use them.
    void require_time(time_point last_start) const;

    /// Returns the identity of the ensemble. The identity comes from the creation of the root node.
    /// The result is empty if the identity was not read yet.
    const std::string& ensemble() const noexcept { return ensemble_; }

private:
    void learn_root(const node_stat&);
    void hear(session_news);
    asio::awaitable<void> read_root(std::shared_ptr<store_session>);
    asio::awaitable<bool> make_node(std::string path, node_mode);

    std::optional<client_info> info_;
    std::unique_ptr<watch> news_;
    std::shared_ptr<void> holding_; ///< keeps the session in use while there are holds
    std::string ensemble_;
    bool closed_ = false;
};

} // namespace holdfast::zookeeper
