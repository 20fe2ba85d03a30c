// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/link/handshake.hpp"
#include "redis/node_context.hpp"

#include <optional>

namespace holdfast::redis {

/// Makes a connection and does the handshake, within `connect_timeout`. Never throws.
///
/// On success returns nothing. `told` has the information about the server then, and the
/// connection's clock is known. On failure returns the reason. The connection is cut then, and
/// nothing was sent that matters to a lock.
asio::awaitable<std::optional<net::failure>> establish(node_context&, purpose, connection&,
                                                       introduction& told);

} // namespace holdfast::redis
