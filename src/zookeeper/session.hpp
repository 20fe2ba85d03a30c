// SPDX-License-Identifier: Apache-2.0
// The private seam below src/store/zookeeper: one session at an ensemble, and what can be asked in
// it. Nothing above knows connections, servers or frames; a model can stand here in tests, and so
// could a library (docs/adr: why there is a client of our own).
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

/// As the protocol numbers them.
enum class node_mode : std::int32_t {
    persistent = 0,
    ephemeral = 1,
    persistent_sequential = 2,
    ephemeral_sequential = 3,
    container = 4, ///< the server removes it some time after its last child has gone
};

struct node_stat {
    std::int64_t czxid = 0; ///< of the transaction that made the node
    std::int64_t mzxid = 0;
    std::int64_t ephemeral_owner = 0; ///< a session's id; 0: it is not ephemeral
    std::int64_t made_at = 0;         ///< ms since 1970, by the leader's clock then
    std::int32_t version = 0;
    std::int32_t child_version = 0; ///< counts children that came and went
    std::int32_t data_length = 0;
    std::int32_t children = 0;
};

struct node_data {
    std::string data{};
    node_stat stat{};
};

struct new_node {
    std::string path{}; ///< of a sequential one, all but its number
    std::string data{};
    node_mode mode = node_mode::persistent;
};

struct created_node {
    std::string path{};
    node_stat stat{}; ///< czxid is zero where the server does not tell it (container nodes)
};

/// The names of a node's children, in no order; nothing: there is no such node.
using listing = std::optional<std::vector<std::string>>;

/// What a session is at a moment.
struct session_state {
    std::int64_t id = 0;    ///< zero: there is none yet, or it has ended and the next is not open
    duration timeout{};     ///< as the ensemble granted it
    bool connected = false; ///< requests can be sent
    /// Until then the ensemble has not ended it, on the client's clock, with a margin for drift. It
    /// moves on while writes are answered; never by what only one server says.
    time_point alive_until = time_point::min();
};

/// One server of the list, as it answers a visitor.
struct server_seen {
    std::string address{};
    std::string trouble{};  ///< why it serves nobody, or cannot be asked; empty: it can
    duration delay{};       ///< of its answer, once there was a connection
    std::string role{};     ///< "leader", "follower", "observer", "standalone"; empty: untold
    std::string version{};  ///< likewise
    std::int64_t epoch = 0; ///< counts the ensemble's leaders; zero: untold
};

struct survey {
    bool over_tls = false;
    std::vector<server_seen> servers{};
};

/// What is reported of a session, on the executor. A new one has lost all nodes of the one before.
/// Whoever keeps holds in it casts doubt on them (`store_context::doubt`): the session does not.
enum class session_news : std::uint8_t {
    suspended, ///< no connection; its nodes are there while it lives
    resumed,   ///< a connection again, the same session; all watches have fired, none is left
    ended,     ///< it has expired, or may have by our own clock; its nodes are gone, or go
    opened,    ///< another session: nobody has anything in it yet
};

/// Every call ends within `command_timeout`. It returns an answer, or throws `net::failure`:
/// `errc::unreachable` if nothing was sent, `errc::outcome_unknown` if the answer did not come or
/// the connection was lost behind it, a `store_errc` if the server refused, `errc::overloaded`,
/// `errc::closed`. Answers come in the order of the requests. A call connects where that is needed.
///
/// Paths are whole, and below the chroot. Alarms and listeners must outlive what they were given
/// for. Thread safety: everything on the client's executor.
class session {
public:
    virtual ~session() = default;

    /// Nothing: its parent is not there (`no_parent`), or a node of that path is (`exists`).
    enum class refusal : std::uint8_t { none, no_parent, exists };
    struct creation {
        refusal why = refusal::none;
        created_node node{};
    };
    virtual asio::awaitable<creation> create(new_node) = 0;

    /// The same, and the children of `parent` as they are behind that, in one write.
    struct entrance {
        creation made{};
        listing children{};
    };
    virtual asio::awaitable<entrance> create_and_list(new_node, std::string parent) = 0;

    virtual asio::awaitable<listing> list(std::string path) = 0;

    virtual asio::awaitable<std::optional<node_data>> get(std::string path) = 0;

    /// False: there is no such node. Without a version.
    virtual asio::awaitable<bool> set(std::string path, std::string data) = 0;

    /// False: there was no such node. `busy`: it has children, and stays.
    enum class removal : std::uint8_t { removed, absent, has_children };
    virtual asio::awaitable<removal> remove(std::string path) = 0;

    /// The server that answers from now on has all that the ensemble had when this was asked. No
    /// proof that it still belongs to the ensemble.
    virtual asio::awaitable<void> sync(std::string path) = 0;

    /// Whether these nodes are there, as a *write* that the ensemble agrees on: when it is
    /// answered, `state().alive_until` has moved. Empty paths: just that. At most 500. An answer
    /// after `answer_by` is of no use, and ends it earlier than `command_timeout` does.
    virtual asio::awaitable<std::vector<bool>> confirm(std::span<const std::string> paths,
                                                       time_point answer_by) = 0;

    /// Rings `wake` once when that node's data changes or it is deleted, or when the session has
    /// been resumed or has ended: what happened meanwhile is not known, so look, and watch again.
    /// Null: there is no such node.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path, alarm& wake) = 0;
    /// Calls `whom` instead of ringing.
    virtual asio::awaitable<std::unique_ptr<watch>> watch_node(std::string path,
                                                               std::function<void()> whom) = 0;
    /// The same when the node gets or loses a child; with the children as they are now.
    struct watched_listing {
        listing children{};
        std::unique_ptr<watch> children_watched{};
    };
    virtual asio::awaitable<watched_listing> list_and_watch(std::string path, alarm& wake) = 0;

    /// Visits each server of the list, one after the other, beside the session. A visit is bounded
    /// by `connect_timeout`, and no failure. Of a name with several addresses it sees one server.
    virtual asio::awaitable<survey> look_around() = 0;

    /// Resumes the session over a new connection and confirms that it lives, if the ensemble may
    /// end it within a sixth of its timeout, for all that is proved. So it is after the process
    /// stood still: what a server answered since then proves nothing for half of the timeout, but a
    /// session that was resumed is known to the leader.
    virtual asio::awaitable<void> prove_alive(time_point) { co_return; }

    virtual session_state state() const = 0;

    /// While somebody has it, the session is kept alive by writes, so that `alive_until` moves on;
    /// and it is opened again when it has ended. Without it, by pings. It is resumed while anybody
    /// watches, and closed when it was idle for a minute and nobody does.
    virtual std::shared_ptr<void> in_use() = 0;

    /// Is called on the executor until the result is destroyed.
    virtual std::unique_ptr<watch> on_news(std::function<void(session_news)>) = 0;

    virtual duration command_timeout() const noexcept = 0;
    /// Where it is connected, or was last; for people.
    virtual std::string address() const = 0;

    /// Ends the session, so that its nodes go at once; bounded by `connect_timeout`.
    virtual asio::awaitable<void> depart() = 0;
    virtual void close() noexcept = 0;
};

} // namespace holdfast::zookeeper
