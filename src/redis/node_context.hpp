// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/address.hpp"
#include "net/failure.hpp"
#include "net/tls_context.hpp"

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
        , home{std::move(c)} {}

    const options how;
    const store_context home;
    const std::string address = net::address_of(how.unix_socket, how.host, how.port);
    const std::unique_ptr<net::tls_context> tls =
        how.tls ? std::make_unique<net::tls_context>(*how.tls, how.host) : nullptr; // null: plain

    /// Whoever finds that this server is none that locks are asked of any more says so here: then
    /// every connection to it ends, and the next ones look its name up again. Safe from within
    /// anything that a connection does. Empty: nobody is interested.
    std::function<void(const net::failure& why)> leave_server;
};

} // namespace holdfast::redis
