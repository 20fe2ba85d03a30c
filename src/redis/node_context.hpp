// SPDX-License-Identifier: Apache-2.0
// State and callbacks that all connections to one server share. Also the facts that a server
// reports about itself during the handshake.
#pragma once

#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "redis/node.hpp"

#include <holdfast/redis/options.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::redis {

using net::destination;

/// Returns the endpoint that the options name: a unix socket, or a host and a port.
inline std::shared_ptr<const destination> destination_of(const options& how) {
    const server_address where{how.host, how.port};
    if (how.unix_socket.empty())
        return std::make_shared<const destination>(where, how.tls);
    return std::make_shared<const destination>(how.unix_socket, where, how.tls);
}

/// Address of a server, and the facts that it reported about itself during the handshake. A server
/// may refuse to report some of these facts.
struct server_hello {
    net::stream_endpoint peer{};
    std::optional<std::chrono::microseconds> shown; ///< time of the server's clock
    /// True if the server replied to ROLE and is not a replica.
    bool tells_role = false;
    /// Id of the server process, which a restart changes. Empty if unknown.
    std::string run_id;
    std::string node_id{};      ///< id of the node in its cluster; empty if unknown
    std::string replication_id; ///< id of its data's history; empty if unknown
    std::optional<std::chrono::seconds> uptime;
};

/// Server of the command connection, as the handshake identified it.
struct server_in_use {
    std::string run_id;          ///< empty if the server did not report its run_id
    bool may_be_another = false; ///< true: perhaps not the same server as before

    /// Returns whether another connection can stay open, because its server is, or may be, this
    /// server. `its_run_id` is the run_id that the other connection's server reported.
    bool serves(const std::string& its_run_id) const {
        if (its_run_id.empty() || run_id.empty())
            return !may_be_another;
        return its_run_id == run_id;
    }
};

/// State and callbacks that all connections to one server share. The connections' coroutines keep
/// this object alive, so it may outlive the node. A callback is empty if nobody needs its event.
struct node_context {
    node_context(options o, store_context c)
        : how{std::move(o)}
        , home{std::move(c)}
        , where{how.sentinel ? nullptr : destination_of(how)} {}

    const options how;
    const store_context home;

    /// Endpoint of new connections. Null if the endpoint is not known yet. The endpoint can change
    /// later if Sentinels name the primary; see `find`.
    std::shared_ptr<const destination> where;

    /// Returns the server's address for messages.
    std::string address() const { return where ? where->address : unknown; }
    std::string unknown{}; ///< text for messages while `where` is null

    /// Waits until `where` is known. This callback is called before each connection is made. Throws
    /// `failure` (unreachable) if `where` is not known at `limit`. The callback is empty if `where`
    /// is always known.
    std::function<asio::awaitable<void>(time_point limit)> find{};

    /// Reports one of these troubles: no connection could be made, the server is no primary, or the
    /// server does not reply. If this callback is empty, the client only retries.
    std::function<void()> in_trouble{};

    /// Reports that a reply has been missing for part of `command_timeout`.
    std::function<void()> overdue{};

    /// Ends all connections to the server, because it must not be asked for locks any more. Looks
    /// the server's name up again for new connections. The callbacks of all connections may call
    /// this function.
    std::function<void(const net::failure& why)> leave_server{};

    /// Form in which releases are published at this server.
    telling form = telling::plain;

    /// Returns the id that the server must have in its cluster, or an empty text if it is unknown.
    /// The id is checked because a server of another cluster may get the same address later. This
    /// callback is empty if there is no cluster.
    std::function<std::string()> node_id{};

    /// Reports that another server of the cluster owns a channel now. `words` is the MOVED error.
    /// This callback is empty if there is no cluster.
    std::function<void(const std::string& words)> redirected{};

    /// Called when the command connection was opened, and when it has ended.
    std::function<void(const server_hello&)> on_connected{};
    std::function<void()> on_disconnected{};

    /// Callbacks that keep all connections at the same server (`same_server_guard`).
    /// `on_shared_connection`: a new command connection to this server was opened.
    /// `on_other_connection`: another connection for requests was opened.
    std::function<void(const server_in_use&)> on_shared_connection{};
    std::function<void(const server_hello&)> on_other_connection{};

    /// Reports that the server may have lost holds; see `store_context::revalidate`.
    std::function<void(bool urgent)> revalidate{};
};

/// Returns a function that calls the member function `what` if the object still exists. The
/// function does not keep the object alive.
template <typename T, typename... Args>
std::function<void(Args...)> while_alive(const std::shared_ptr<T>& it, void (T::*what)(Args...)) {
    return [weak = std::weak_ptr{it}, what](Args... args) {
        if (const auto here = weak.lock())
            (*here.*what)(args...);
    };
}

} // namespace holdfast::redis
