// SPDX-License-Identifier: Apache-2.0
// Questions to a server about other servers, over a connection that is opened only for the
// questions.
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"

#include <holdfast/credentials.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// User and password for a login.
struct login {
    login(credentials c, bool refusable = false)
        : who{std::move(c)}
        , may_be_refused{refusable} {}
    credentials who;
    /// The credentials belong to other servers. If this server refuses them, it is asked without a
    /// login.
    bool may_be_refused;
};

/// Connects and logs in. Continues without a login if the server has no password. Returns the error
/// if the login was refused and `may_be_refused` is set; otherwise returns an empty text. Throws
/// `failure` if the login is not complete at `limit`.
asio::awaitable<std::string> greet(const node_context&, connection&,
                                   std::shared_ptr<const destination>, login, time_point limit);

/// Sends all requests in `words` at once, and returns the replies; `answers` is their number. Ends
/// the connection. Throws `failure` if replies are missing at `limit`.
asio::awaitable<std::vector<reply>> inquire(const node_context&, connection&,
                                            std::shared_ptr<const destination>, login,
                                            std::string words, std::size_t answers,
                                            time_point limit);

} // namespace holdfast::redis
