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

/// What all connections to one server share. Their loops keep it, so it may outlive the node.
struct node_context {
    node_context(options o, store_context c)
        : how{std::move(o)}
        , home{std::move(c)}
        , where{how.sentinel ? nullptr : destination_of(how)} {}

    const options how;
    const store_context home;

    /// Where new connections lead to. Null: that is not known yet. It changes where others appoint
    /// the server: see `find`.
    std::shared_ptr<const destination> where;

    /// For people.
    std::string address() const { return where ? where->address : unknown; }
    std::string unknown{}; ///< as long as it is not known where the server is

    /// Before a connection is made: completes when `where` is known, or throws `failure`
    /// (unreachable) at that moment at the latest. Empty: it is known.
    std::function<asio::awaitable<void>(time_point limit)> find{};

    /// A connection could not be made, or what it leads to is no primary, or it does not answer.
    /// Empty: nobody knows better than to try again.
    std::function<void()> in_trouble{};

    /// A connection owes an answer for a part of the usual time. Empty: nobody looks after it.
    std::function<void()> overdue{};

    /// Whoever finds that this server is none that locks are asked of any more says so here: then
    /// every connection to it ends, and the next ones look its name up again. Safe from within
    /// anything that a connection does. Empty: nobody is interested.
    std::function<void(const net::failure& why)> leave_server{};

    /// How releases are told here.
    telling form = telling::plain;

    /// Returns the id that the server must have in its cluster; an empty text: it is not known. At
    /// an address that is used again, a server of another cluster may answer. Empty: no cluster.
    std::function<std::string()> node_id{};

    /// Another server of a cluster hears a channel now: what this one said of that. Empty: there is
    /// no other.
    std::function<void(const std::string& words)> redirected{};

    /// The connection for requests was made; and it has ended. Empty: nobody is interested.
    std::function<void(const introduction&)> met{};
    std::function<void()> parted{};

    /// So that all connections lead to the same server (together.hpp): the one for requests was
    /// made, and leads to this; another one for requests was made. Empty: there are no others.
    std::function<void(const server_in_use&)> shared_met{};
    std::function<void(const introduction&)> other_met{};

    /// What was held here may be gone: as `store_context::doubt`, of what this server has.
    std::function<void(bool urgent)> doubt{};
};

} // namespace holdfast::redis
