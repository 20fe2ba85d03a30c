// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/link/handshake.hpp"
#include "redis/node_context.hpp"

#include <optional>

namespace holdfast::redis {

/// Makes a connection and sets it up, within `connect_timeout`. Why not, if not; then it is cut,
/// and nothing was sent that matters to a lock.
asio::awaitable<std::optional<net::failure>> establish(node_context&, purpose, connection&);

} // namespace holdfast::redis
