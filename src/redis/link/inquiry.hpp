// SPDX-License-Identifier: Apache-2.0
// What a server says of other servers is asked over a connection for just that.
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"

#include <holdfast/credentials.hpp>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Dials, and logs in where the server wants that: one that knows no password is asked without.
/// Throws `failure` if it cannot be done by then.
asio::awaitable<void> greet(const node_context&, connection&, std::shared_ptr<const destination>,
                            credentials, time_point limit);

/// The answers to so many requests, as composed in `words`, which are all sent at once. Ends the
/// connection. Throws `failure` if they have not come by then.
asio::awaitable<std::vector<reply>> inquire(const node_context&, connection&,
                                            std::shared_ptr<const destination>, credentials,
                                            std::string words, std::size_t answers,
                                            time_point limit);

} // namespace holdfast::redis
