// SPDX-License-Identifier: Apache-2.0
// Interface between src/store/zookeeper and the ensemble: one session at an ensemble, and its
// requests. The store uses only this interface, and no connections, servers or frames. Tests
// implement the interface with a model. Another client library could implement it, too (docs/adr
// says why holdfast has its own client).
#pragma once

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// Mode of a node. The numbers are those of the protocol.
enum class node_mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    persistent_sequential = 2,
    ephemeral_sequential = 3,
    container = 4, ///< the server deletes the node some time after its last child was deleted
};

struct node_stat {
    std::int64_t czxid = 0; ///< zxid of the transaction that created the node
    std::int64_t mzxid = 0;
    /// Id of the session that owns the ephemeral node. 0 if the node is not ephemeral.
    std::int64_t ephemeral_owner = 0;
    std::int64_t made_at = 0; ///< creation time, in ms since 1970 by the leader's clock
    std::int32_t version = 0;
    std::int32_t child_version = 0; ///< number of times that a child was created or deleted
    std::int32_t data_length = 0;
    std::int32_t children = 0;
    std::int64_t pzxid = 0; ///< zxid of the last creation or deletion of a child
};

struct node_data {
    std::string data{};
    node_stat stat{};
};

struct new_node {
    std::string path{}; ///< path of the node; without the number if the node is sequential
    std::string data{};
    node_mode mode = node_mode::persistent;
};

struct created_node {
    std::string path{};
    /// State of the node. Its czxid is zero if the server does not report it (container nodes).
    node_stat stat{};
};

/// Names of a node's children, without an order. The optional is empty if the node does not exist.
using listing = std::optional<std::vector<std::string>>;

/// State of a session at one moment.
struct session_state {
    std::int64_t id = 0;    ///< zero: there is no session at the moment
    duration timeout{};     ///< timeout that the ensemble granted
    bool connected = false; ///< true: requests can be sent
    /// Time until which the ensemble has certainly not ended the session. The time is on the
    /// client's clock, and includes a margin for drift. Each answered write moves this time
    /// forward. An answer that comes from a single server alone does not move it.
    time_point alive_until = time_point::min();
};

/// Report of one server of the list about itself.
struct server_seen {
    std::string address{};
    /// Why the server serves no clients, or did not reply. Empty if the server serves clients.
    std::string trouble{};
    duration delay{};   ///< delay of the server's answer, without the time to connect
    std::string role{}; ///< "leader", "follower", "observer" or "standalone"; empty: not reported
    std::string version{};  ///< version of the server; empty: not reported
    std::int64_t epoch = 0; ///< number of the leader's term; zero: not reported
};

struct survey {
    bool over_tls = false;
    std::vector<server_seen> servers{};
};

/// Events of a session, reported on the executor. A new session owns none of the earlier session's
/// nodes. The listener must tell the client that its holds may be lost
/// (`store_context::revalidate`).
enum class session_news : std::uint8_t {
    suspended, ///< the connection is lost; the nodes exist as long as the session lives
    /// The same session has a connection again. All watches have fired, so no watch exists any
    /// more.
    resumed,
    /// The session has expired, or may have expired according to the client's clock. Its nodes are
    /// deleted now or soon.
    ended,
    opened, ///< a new session was opened; it has created no node yet
};

/// Every call ends within `command_timeout`. A call returns an answer or throws `net::failure`:
///
/// - `errc::unreachable`: nothing was sent.
/// - `errc::outcome_unknown`: no answer came, or the connection was lost before the answer.
/// - a `store_errc`: the server refused. `not_set_up`: the chroot does not exist.
/// - `errc::overloaded` or `errc::closed`.
///
/// Answers come in the order of the requests. If there is no connection, a call makes the client
/// connect.
///
/// Paths are absolute, below the chroot. If a node is missing, the session checks whether the
/// chroot exists. Only `remove`, `confirm` and `watch_node` do not check this, because a missing
/// node is a regular answer there. An alarm or listener must outlive the watch or call that uses
/// it. Thread safety: call everything on the client's executor.
class session {
public:
    virtual ~session() = default;

    /// Why no node was created: the parent does not exist, or the path already exists.
    enum class refusal : std::uint8_t { none, no_parent, exists };
    struct creation {
        refusal why = refusal::none;
        created_node node{};
    };
    virtual asio::awaitable<creation> create(new_node) = 0;

    /// Result of two requests that are sent in one write: the creation of a node, and a list of the
    /// children of `parent`.
    struct created_and_listed {
        creation made{};
        listing children{};
    };
    virtual asio::awaitable<created_and_listed> create_and_list(new_node, std::string parent) = 0;

    virtual asio::awaitable<listing> list(std::string path) = 0;

    virtual asio::awaitable<std::optional<node_data>> get(std::string path) = 0;

    /// Replaces the node's data, whatever their version is. Returns false if the node does not
    /// exist.
    virtual asio::awaitable<bool> set(std::string path, std::string data) = 0;
    /// Replaces the node's data if the version of the data is `version` (`node_stat::version`).
    /// Returns false if the node does not exist, or if the version is another one.
    virtual asio::awaitable<bool> set_if_unchanged(std::string path, std::string data,
                                                   std::int32_t version) = 0;

    /// Result of deleting a node. `absent`: the node did not exist. `has_children`: the node has
    /// children, so it was not deleted.
    enum class removal : std::uint8_t { removed, absent, has_children };
    virtual asio::awaitable<removal> remove(std::string path) = 0;

    /// Waits until the connected server has received every change that the ensemble made before
    /// this call. Completion does not prove that the server still belongs to the ensemble.
    virtual asio::awaitable<void> sync(std::string path) = 0;

    /// Returns, for each path, whether its node exists. The check is a *write* that the ensemble
    /// agrees on, so the answer moves `state().alive_until` forward. An empty list of paths only
    /// moves that time; at most 500 paths are allowed. The call stops waiting at `answer_by` or
    /// after `command_timeout`, whichever is earlier.
    virtual asio::awaitable<std::vector<bool>> confirm(std::span<const std::string> paths,
                                                       time_point answer_by) = 0;

    /// Rings the alarm `wake` once: when the node's data changes, when the node is deleted, or when
    /// the session is resumed or has ended. Changes between two watches are not reported, so after
    /// a ring, watch the node again and read it. Returns null if the node does not exist.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path, alarm& wake) = 0;
    /// Watches a node as the other `watch_node` does, but calls the callback `whom` instead of
    /// ringing an alarm.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path,
                                                               std::function<void()> whom) = 0;
    /// Result of watching the children of a node: the present children, and the watch. The alarm
    /// `wake` rings once: when a child is created or deleted, or when the session is resumed or has
    /// ended.
    struct watched_listing {
        listing children{};
        std::unique_ptr<watch> children_watched{};
    };
    virtual asio::awaitable<watched_listing> list_and_watch(std::string path, alarm& wake) = 0;

    /// Asks each server of the list about itself, one after the other, each over a connection of
    /// its own. `connect_timeout` limits each connection. If a server cannot be asked, the result
    /// says so; the call does not throw. If a name has several addresses, only one of its servers
    /// is asked.
    virtual asio::awaitable<survey> look_around() = 0;

    /// Proves that the session still exists, for example after the process was suspended. Does
    /// nothing if the ensemble cannot end the session within the next sixth of the session's
    /// timeout. Otherwise sends a write. If the write is not proof enough, resumes the session over
    /// a new connection and sends another write.
    ///
    /// For half of the timeout after a suspension, an answer alone proves nothing. But the leader
    /// learns of a resumption at once, so the resumption and the next write together are a proof.
    virtual asio::awaitable<void> prove_alive(time_point) { co_return; }

    virtual session_state state() const = 0;

    /// Returns a handle that marks the session as used. While a handle exists, writes keep the
    /// session alive and move `alive_until` forward, and an ended session is replaced by a new one.
    /// Without a handle, only pings keep the session alive. While there are watches, the session is
    /// resumed after the connection was lost. A session without handles and watches is closed after
    /// a minute.
    virtual std::shared_ptr<void> in_use() = 0;

    /// Registers a listener. The listener is called on the executor until the returned object is
    /// destroyed.
    virtual std::unique_ptr<watch> on_news(std::function<void(session_news)>) = 0;

    virtual duration command_timeout() const noexcept = 0;
    /// Returns the address of the current or last server, for messages.
    virtual std::string address() const = 0;

    /// Closes the session. The ensemble then deletes the session's nodes at once. `connect_timeout`
    /// limits the call.
    virtual asio::awaitable<void> depart() = 0;
    virtual void close() noexcept = 0;
};

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` if an option is wrong. The text names the field and says which values
/// are allowed.
options checked(options);

/// Makes a session at the ensemble that the options name. The first request, or the first call of
/// `in_use`, opens the session. The options must be the result of checked().
std::unique_ptr<session> make_session(options, store_context);

} // namespace holdfast::zookeeper
