// SPDX-License-Identifier: Apache-2.0
// The private interface below src/store/zookeeper: one session at an ensemble, and its requests.
// The store does not know connections, servers or frames. Tests put a model here, and another
// client library could be used (docs/adr says why holdfast has its own client).
#pragma once

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// Modes of a node, numbered as in the protocol.
enum class node_mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    persistent_sequential = 2,
    ephemeral_sequential = 3,
    container = 4, ///< the server deletes it some time after its last child was deleted
};

struct node_stat {
    std::int64_t czxid = 0; ///< zxid of the transaction that made the node
    std::int64_t mzxid = 0;
    std::int64_t ephemeral_owner = 0; ///< id of a session; 0: not ephemeral
    std::int64_t made_at = 0;         ///< ms since 1970, by the leader's clock at that time
    std::int32_t version = 0;
    std::int32_t child_version = 0; ///< counts children that were made or deleted
    std::int32_t data_length = 0;
    std::int32_t children = 0;
};

struct node_data {
    std::string data{};
    node_stat stat{};
};

struct new_node {
    std::string path{}; ///< for a sequential node: without its number
    std::string data{};
    node_mode mode = node_mode::persistent;
};

struct created_node {
    std::string path{};
    node_stat stat{}; ///< czxid is zero if the server does not report it (container nodes)
};

/// The names of a node's children, unordered. Empty optional: there is no such node.
using listing = std::optional<std::vector<std::string>>;

/// State of a session at one moment.
struct session_state {
    std::int64_t id = 0;    ///< zero: there is no session at the moment
    duration timeout{};     ///< timeout that the ensemble granted
    bool connected = false; ///< requests can be sent
    /// Until this time the ensemble has surely not ended the session, by the client's clock and
    /// with a margin for drift. Answered writes move it forward; the answers of a single server do
    /// not.
    time_point alive_until = time_point::min();
};

/// One server of the list, as it reports itself.
struct server_seen {
    std::string address{};
    std::string trouble{}; ///< why it does not serve, or could not be asked; empty: it serves
    duration delay{};      ///< time until its answer, once connected
    std::string role{}; ///< "leader", "follower", "observer" or "standalone"; empty: not reported
    std::string version{};  ///< empty: not reported
    std::int64_t epoch = 0; ///< number of the leader's term; zero: not reported
};

struct survey {
    bool over_tls = false;
    std::vector<server_seen> servers{};
};

/// Events of a session, reported on the executor. A new session has none of the earlier session's
/// nodes. The listener must cast doubt on its holds itself (`store_context::doubt`).
enum class session_news : std::uint8_t {
    suspended, ///< the connection is lost; the nodes exist while the session lives
    /// The same session has a connection again. All watches have fired, and none is left.
    resumed,
    /// The session has expired, or may have by the client's clock. Its nodes are deleted, or will
    /// be.
    ended,
    opened, ///< another session, in which nothing was made yet
};

/// Every call ends within `command_timeout`. It returns an answer, or throws `net::failure`:
///
/// - `errc::unreachable`: nothing was sent.
/// - `errc::outcome_unknown`: no answer came, or the connection was lost before it.
/// - a `store_errc`: the server refused.
/// - `errc::overloaded` or `errc::closed`.
///
/// Answers come in the order of the requests. A call connects if necessary.
///
/// Paths are absolute, below the chroot. An alarm or listener must outlive the watch or call that
/// uses it. Thread safety: call everything on the client's executor.
class session {
public:
    virtual ~session() = default;

    /// Why no node was created: the parent does not exist, or the path exists already.
    enum class refusal : std::uint8_t { none, no_parent, exists };
    struct creation {
        refusal why = refusal::none;
        created_node node{};
    };
    virtual asio::awaitable<creation> create(new_node) = 0;

    /// Creates a node and then lists the children of `parent`. Both requests go out in one write.
    struct entrance {
        creation made{};
        listing children{};
    };
    virtual asio::awaitable<entrance> create_and_list(new_node, std::string parent) = 0;

    virtual asio::awaitable<listing> list(std::string path) = 0;

    virtual asio::awaitable<std::optional<node_data>> get(std::string path) = 0;

    /// Replaces the data, whatever its version. Returns false if there is no such node.
    virtual asio::awaitable<bool> set(std::string path, std::string data) = 0;

    /// Deletes a node. `absent`: there was no such node. `has_children`: it was not deleted.
    enum class removal : std::uint8_t { removed, absent, has_children };
    virtual asio::awaitable<removal> remove(std::string path) = 0;

    /// Waits until the connected server has everything that the ensemble had when this was called.
    /// This does not prove that the server still belongs to the ensemble.
    virtual asio::awaitable<void> sync(std::string path) = 0;

    /// Returns for each node whether it exists. The check is a *write* that the ensemble agrees on,
    /// so the answer moves `state().alive_until` forward. `paths` may be empty for only that, and
    /// has at most 500 entries. The call gives up at `answer_by` if that is before
    /// `command_timeout`.
    virtual asio::awaitable<std::vector<bool>> confirm(std::span<const std::string> paths,
                                                       time_point answer_by) = 0;

    /// Rings `wake` once when the node's data changes, when the node is deleted, and when the
    /// session is resumed or has ended. After that, read the node again and watch it again, because
    /// changes in between are not reported. Returns null if there is no such node.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path, alarm& wake) = 0;
    /// Like the other `watch_node`, but calls `whom`.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path,
                                                               std::function<void()> whom) = 0;
    /// Rings `wake` like `watch_node`, when a child is made or deleted. Returns the current
    /// children too.
    struct watched_listing {
        listing children{};
        std::unique_ptr<watch> children_watched{};
    };
    virtual asio::awaitable<watched_listing> list_and_watch(std::string path, alarm& wake) = 0;

    /// Asks each server of the list about itself, one after the other, over separate connections.
    /// `connect_timeout` limits each connection. A server that cannot be asked is reported, not
    /// thrown. If a name has several addresses, one server is asked.
    virtual asio::awaitable<survey> look_around() = 0;

    /// Proves that the session lives, if the ensemble may end it within a sixth of its timeout. It
    /// confirms with a write, and if that is not enough, resumes the session over a new connection
    /// and confirms again. This matters after the process stood still. Answers since then prove
    /// nothing for half of the timeout, but the leader knows a session that was resumed.
    virtual asio::awaitable<void> prove_alive(time_point) { co_return; }

    virtual session_state state() const = 0;

    /// Returns a handle. While a handle exists, writes keep the session alive and move
    /// `alive_until` forward, and a new session is opened after the session has ended. Without a
    /// handle, pings keep it alive. It is resumed while there are watches. It is closed after a
    /// minute without use and watches.
    virtual std::shared_ptr<void> in_use() = 0;

    /// Registers a listener. It is called on the executor until the result is destroyed.
    virtual std::unique_ptr<watch> on_news(std::function<void(session_news)>) = 0;

    virtual duration command_timeout() const noexcept = 0;
    /// Address of the current or last server, for people.
    virtual std::string address() const = 0;

    /// Closes the session, so that its nodes are deleted at once. `connect_timeout` limits the
    /// call.
    virtual asio::awaitable<void> depart() = 0;
    virtual void close() noexcept = 0;
};

} // namespace holdfast::zookeeper
