// SPDX-License-Identifier: Apache-2.0
// Nodes of the locks: their paths, names and data, their order in a queue, and how their names show
// the kind of lock. The functions do no I/O.
#pragma once

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

/// Node that a session of this client has created. The server deletes it when that session ends.
struct own_node {
    own_node(std::string p, std::int64_t s, std::int64_t z)
        : path{std::move(p)}
        , session{s}
        , czxid{z} {}
    bool operator==(const own_node&) const = default;
    std::string path;
    std::int64_t session;
    std::int64_t czxid;
};

/// Translates lock names into paths of nodes, and back. Thread safety: any thread may use it.
class paths {
public:
    /// Creates the object from two options of the store. `root` must be a valid path.
    paths(std::string root, bool names_are_paths);

    /// Maximum length of the path of a lock, in bytes. The lock's nodes are below this path.
    static constexpr std::size_t bytes_max = 1000;

    std::optional<std::string> objection_to(const lock_name&) const;

    /// Returns the path of a lock. The nodes of its holders and waiters are children of this path.
    /// The name must be one that the store allows.
    std::string of(const lock_name&) const;

    /// Returns the name of the lock at this path. The result is empty if no lock can have this
    /// path.
    std::optional<std::string> name_at(std::string_view path) const;

    /// Returns the path that contains the nodes of all locks. The result is empty if lock names are
    /// whole paths.
    const std::string& root() const noexcept { return root_; }

private:
    std::string root_; // without a final slash; empty: names are paths
    bool names_are_paths_;
};

/// Returns why ZooKeeper refuses the path. The result is empty if ZooKeeper accepts the path.
std::optional<std::string> objection_to_path(std::string_view path);

/// Replaces each byte that is not ASCII or not allowed in a node's name by `%` and two digits.
std::string encoded(std::string_view name);
/// Returns the text from which encoded() makes `node`. Returns nothing if encoded() makes `node`
/// from no text.
std::optional<std::string> decoded(std::string_view node);

/// Joins "/a/b" and "c" to "/a/b/c".
std::string below(std::string_view parent, std::string_view child);
/// Returns "/a/b" for "/a/b/c", and "/" for "/a".
std::string_view parent_of(std::string_view path);
/// Returns "c" for "/a/b/c".
std::string_view last_part(std::string_view path);

// Names and data of the nodes that hold a lock or wait for it: docs/protocol/zookeeper.md.

/// Returns the 32 hexadecimal digits that identify an owner: half of the client's id, and the
/// owner's number.
std::string digits_of(const owner_id&);

/// Returns the start of an owner's node names, to which the server adds a number of ten digits. In
/// Curator's form: `_c_<uuid>-lock-`, `…-__READ__`, `…-__WRIT__`. In kazoo's form:
/// `<digits>__lock__`, `…__rlock__`.
std::string node_prefix(node_form, lock_kind, const owner_id&);

/// Returns the start of the name of a permit's node: `_c_<uuid>-lease-`. The uuid consists of the
/// digits of `permit_id`.
std::string permit_prefix(const owner_id&);
/// Returns the 32 digits in the name of a permit's node, which are the permit's id. Nodes that
/// Curator creates have such digits, too.
std::string permit_in(std::string_view node);

/// Node of a holder or waiter of a lock, which may belong to holdfast, Curator or kazoo.
struct contender {
    std::string_view node{}; ///< name of the node
    /// Number that the server gave the node. The node with the smallest number is first in the
    /// queue.
    std::int64_t number = 0;
    bool shares = false;  ///< true: the node belongs to a reader
    bool of_pair = false; ///< true: the name belongs to a read-write lock
    /// True if the name can only belong to a mutex. Kazoo's `__lock__` can also belong to a
    /// read-write lock.
    bool of_mutex = false;
};

/// Parses a node's name. Returns nothing if the node does not hold or wait for a lock. The result
/// refers to the text `node`, which must stay alive.
std::optional<contender> contender_at(std::string_view node);

/// Returns the holders and waiters among the children of a lock's path, in queue order. The result
/// refers to the texts in `children`, which must stay alive.
std::vector<contender> contenders_in(const std::vector<std::string>& children);

/// Returns the owner of a node, for messages. The owner is taken from the node's name: the UUID or
/// the 32 digits in the name, or else the whole name.
std::string owner_in(std::string_view node);

/// Returns the number that the server gave the node, or nothing if the name has no number.
std::optional<std::int64_t> number_in(std::string_view node);

/// Returns the data for a node of this client: the owner and, if given, the description of the
/// client. If a writer upgrades a read hold, `above` is the node of this read hold; otherwise it is
/// empty.
std::string data_of(const owner_id&, const std::optional<client_info>&,
                    std::string_view above = {});

struct told_owner {
    std::string owner{}; ///< `<uuid>:<number>`
    std::string above{};
    std::optional<client_info> client{};
};
/// Parses a node's data. Returns nothing if another program wrote the data.
std::optional<told_owner> owner_in_data(std::string_view data);

// Order of the nodes in a lock's queue.

/// Position of a node in the queue of a lock.
struct standing {
    bool there = false; ///< true: the node exists
    bool first = false; ///< true: the node holds the lock
    /// Nodes of writers that are in the queue between this node and the read hold that it upgrades.
    /// They wait for the read hold, unless they upgrade the same read hold.
    std::vector<std::string> rivals{};
    /// Node to wait for. After it has been deleted, the caller must make the next attempt.
    std::string behind{};
};

/// Returns whether the node `mine` has the lock. If not, the result has the node for which `mine`
/// waits. A reader waits for the last writer before it. Any other node waits for the last node
/// before it. During an upgrade, `aside` is the owner's own read hold, for which the node does not
/// wait.
standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside = {});

/// Returns whether a new node in this queue would have to wait.
bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside = {});

/// Returns the holders: one exclusive node, or all readers that share the lock. If a writer also
/// has a read node with the same number, that node is a holder, too.
std::vector<contender> holders_among(const std::vector<contender>& in_order);

// Functions that find out which kind of lock uses a path, from the names of its children.

/// If another kind of lock or semaphore uses the path, returns this other kind, as text for
/// messages. Otherwise returns null. `mine` is the caller's own node. Checks only the holder's
/// node. A waiter's node may be deleted soon, so it is no reason to refuse the caller.
const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine = {});

/// If a lock uses the path of a semaphore, returns this kind of lock, as text for messages.
/// Otherwise returns null.
const char* lock_in_words(const std::vector<std::string>& children);

/// Returns whether a leased semaphore uses the path. Semaphores of holdfast and Curator have two
/// folders below their path.
bool is_semaphore(const std::vector<std::string>& children);

} // namespace holdfast::zookeeper
