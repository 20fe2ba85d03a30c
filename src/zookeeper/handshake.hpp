// SPDX-License-Identifier: Apache-2.0
// The handshake on a new connection, before any request. All functions throw `net::failure`.
#pragma once

#include "zookeeper/connection.hpp"
#include "zookeeper/wire/messages.hpp"

namespace holdfast::zookeeper {

/// Opens or resumes a session. The server may answer with another session than the requested
/// session.
asio::awaitable<welcome> greet(connection&, const greeting&);

/// Logs in with a user name and a password. Call it on each new connection before all requests,
/// because the login belongs to the connection.
asio::awaitable<void> log_in(connection&, const credentials&);

/// Closes the session that was resumed on this connection. Afterwards the connection cannot be
/// used.
asio::awaitable<void> say_farewell(connection&);

} // namespace holdfast::zookeeper
