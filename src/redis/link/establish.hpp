// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/link/handshake.hpp"
#include "redis/node_context.hpp"

#include <optional>

namespace holdfast::redis {

/// Opens a connection and does the handshake, within `connect_timeout`. Never throws.
///
/// On success returns nothing. `told` then has the information about the server, and the connection
/// has an estimate of the server's clock. On failure returns the reason. The connection is then
/// closed, and no request about a lock was sent.
asio::awaitable<std::optional<net::failure>> establish(node_context&, purpose, connection&,
                                                       introduction& told);

} // namespace holdfast::redis
