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

/// State and callbacks that all connections to one server share. Their loops keep it alive, so it
/// may outlive the node. An empty callback means that the event is not needed.
struct node_context {
    node_context(options o, store_context c)
        : how{std::move(o)}
        , home{std::move(c)}
        , where{how.sentinel ? nullptr : destination_of(how)} {}

    const options how;
    const store_context home;

    /// Endpoint of new connections. Null if it is not known yet. It can change later where
    /// Sentinels appoint the primary; see `find`.
    std::shared_ptr<const destination> where;

    /// Returns the address for messages.
    std::string address() const { return where ? where->address : unknown; }
    std::string unknown{}; ///< text for messages while `where` is null

    /// Waits until `where` is known. Called before each connection is made. Throws `failure`
    /// (unreachable) at `limit` at the latest. This callback is empty if `where` is always known.
    std::function<asio::awaitable<void>(time_point limit)> find{};

    /// Reports that a connection could not be made, that the server is no primary, or that it does
    /// not reply. If it is empty, the client only tries again.
    std::function<void()> in_trouble{};

    /// Reports that a connection owes a reply for part of `command_timeout`.
    std::function<void()> overdue{};

    /// Reports that this server must not be asked for locks any more. Ends all connections to it;
    /// the next connections look up its name again. Any callback of a connection may call this.
    std::function<void(const net::failure& why)> leave_server{};

    /// How releases are published at this server.
    telling form = telling::plain;

    /// Returns the id that the server must have in its cluster, or an empty text if the id is not
    /// known. The check is needed because a server of another cluster may use the same address
    /// later. This callback is empty if there is no cluster.
    std::function<std::string()> node_id{};

    /// Reports that another server of the cluster owns a channel now. `words` is the MOVED error.
    /// This callback is empty if there is no cluster.
    std::function<void(const std::string& words)> redirected{};

    /// Called when the command connection was made (`met`), and when it has ended (`parted`).
    std::function<void(const introduction&)> met{};
    std::function<void()> parted{};

    /// Used to keep all connections at the same server (together.hpp). `shared_met`: the command
    /// connection was made and leads to this server. `other_met`: another connection for requests
    /// was made.
    std::function<void(const server_in_use&)> shared_met{};
    std::function<void(const introduction&)> other_met{};

    /// Reports that the server may have forgotten the holds that it has, like
    /// `store_context::doubt`.
    std::function<void(bool urgent)> doubt{};
};

} // namespace holdfast::redis
