// SPDX-License-Identifier: Apache-2.0
// The talk on a new connection, before anybody's requests. Each throws `net::failure`.
#pragma once

#include "zookeeper/connection.hpp"
#include "zookeeper/wire/messages.hpp"

namespace holdfast::zookeeper {

/// Opens or resumes a session. The answer may be another session than the one that was asked for.
asio::awaitable<welcome> greet(connection&, const greeting&);

/// Who we are, by name and password. Before anything else is asked, and on each connection: the
/// server forgets it with the connection.
asio::awaitable<void> log_in(connection&, const credentials&);

/// Ends a session that was resumed on this connection, which is of no use any more then.
asio::awaitable<void> say_farewell(connection&);

} // namespace holdfast::zookeeper
