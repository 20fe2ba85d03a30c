// SPDX-License-Identifier: Apache-2.0
// What a server says of other servers is asked over a connection for just that.
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"

#include <holdfast/credentials.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// How to log in.
struct login {
    login(credentials c, bool refusable = false)
        : who{std::move(c)}
        , may_be_refused{refusable} {}
    credentials who;
    /// They are meant for other servers, so a server that refuses them is asked without.
    bool may_be_refused;
};

/// Dials, and logs in where the server wants that. A server that knows no password is asked
/// without. Returns why the login was refused, if that is no matter; else an empty text. Throws
/// `failure` if it cannot be done by then.
asio::awaitable<std::string> greet(const node_context&, connection&,
                                   std::shared_ptr<const destination>, login, time_point limit);

/// The answers to so many requests, as composed in `words`, which are all sent at once. Ends the
/// connection. Throws `failure` if they have not come by then.
asio::awaitable<std::vector<reply>> inquire(const node_context&, connection&,
                                            std::shared_ptr<const destination>, login,
                                            std::string words, std::size_t answers,
                                            time_point limit);

} // namespace holdfast::redis
