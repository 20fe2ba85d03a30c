// SPDX-License-Identifier: Apache-2.0
// The handshake on a new connection, before any request. All functions throw `net::failure`.
#pragma once

#include "zookeeper/connection.hpp"
#include "zookeeper/wire/messages.hpp"

namespace holdfast::zookeeper {

/// Opens or resumes a session. The server may answer with a different session.
asio::awaitable<welcome> greet(connection&, const greeting&);

/// Logs in with a user name and password. This comes before all requests on each connection,
/// because the server forgets the login with the connection.
asio::awaitable<void> log_in(connection&, const credentials&);

/// Closes the session that was resumed on this connection. The connection cannot be used
/// afterwards.
asio::awaitable<void> say_farewell(connection&);

} // namespace holdfast::zookeeper
