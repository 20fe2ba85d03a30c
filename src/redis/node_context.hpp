// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/destination.hpp"
#include "redis/link/introduction.hpp"
#include "redis/node.hpp"
#include "redis/server_in_use.hpp"

#include <holdfast/redis/options.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::redis {

/// State and callbacks that all connections to one server share. The coroutines of the connections
/// keep it alive, so it may outlive the node. A callback is empty if the event is not needed.
struct node_context {
    node_context(options o, store_context c)
        : how{std::move(o)}
        , home{std::move(c)}
        , where{how.sentinel ? nullptr : destination_of(how)} {}

    const options how;
    const store_context home;

    /// Endpoint of new connections. Null if the endpoint is not known yet. It can change later if
    /// Sentinels appoint the primary; see `find`.
    std::shared_ptr<const destination> where;

    /// Returns the address for messages.
    std::string address() const { return where ? where->address : unknown; }
    std::string unknown{}; ///< text for messages while `where` is null

    /// Waits until `where` is known. Called before each connection is made. Throws `failure`
    /// (unreachable) at `limit` at the latest. This callback is empty if `where` is always known.
    std::function<asio::awaitable<void>(time_point limit)> find{};

    /// Reports that no connection could be made, that the server is no primary, or that the server
    /// does not reply. If the callback is empty, the client only tries again.
    std::function<void()> in_trouble{};

    /// Reports that a reply on a connection has been missing for part of `command_timeout`.
    std::function<void()> overdue{};

    /// Reports that this server must not be asked for locks any more. Ends all connections to the
    /// server; new connections look up its name again. The callbacks of all connections may call
    /// this function.
    std::function<void(const net::failure& why)> leave_server{};

    /// Form in which releases are published at this server.
    telling form = telling::plain;

    /// Returns the id that the server must have in its cluster. Returns an empty text if the id is
    /// not known. The id is checked because a server of another cluster may use the same address
    /// later. This callback is empty if there is no cluster.
    std::function<std::string()> node_id{};

    /// Reports that another server of the cluster owns a channel now. `words` is the MOVED error.
    /// This callback is empty if there is no cluster.
    std::function<void(const std::string& words)> redirected{};

    /// `met` is called when the command connection was opened, and `parted` when it has ended.
    std::function<void(const introduction&)> met{};
    std::function<void()> parted{};

    /// Callbacks that keep all connections at the same server (together.hpp). `shared_met`: the
    /// command connection was opened and leads to this server. `other_met`: another connection for
    /// requests was opened.
    std::function<void(const server_in_use&)> shared_met{};
    std::function<void(const introduction&)> other_met{};

    /// Reports that the server may have lost the holds that it had; see `store_context::doubt`.
    std::function<void(bool urgent)> doubt{};
};

} // namespace holdfast::redis
