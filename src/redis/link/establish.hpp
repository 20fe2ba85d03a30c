// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/link/handshake.hpp"
#include "redis/node_context.hpp"

#include <optional>

namespace holdfast::redis {

/// Makes a connection and sets it up, within `connect_timeout`. Why not, if not; then it is cut,
/// and nothing was sent that matters to a lock. Else `told` is what the server said of itself, and
/// the connection's clock has been taught. Throws nothing, whatever it is that went wrong.
asio::awaitable<std::optional<net::failure>> establish(node_context&, purpose, connection&,
                                                       introduction& told);

} // namespace holdfast::redis
