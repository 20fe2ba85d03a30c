// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/credentials.hpp"
#include "redis/link/inquiry.hpp"
#include "redis/node_context.hpp"

#include <cstdint>

namespace holdfast::redis {

/// Returns the address of a Sentinel. The port is 26379 if none is given.
inline server_address sentinel_at(server_address where) {
    constexpr std::uint16_t usual_port = 26379;
    if (where.port == 0)
        where.port = usual_port;
    return where;
}

/// Returns the login for a Sentinel: its own user and password if the options have them, otherwise
/// the user and password of the servers. A Sentinel may refuse the servers' password and still
/// answer questions.
inline login sentinel_login(const node_context& context) {
    const sentinel_options& own = *context.how.sentinel;
    if (own.own_login || !own.user.empty() || !own.password.empty())
        return credentials{own.user, own.password};
    return {net::credentials_now({context.how.user, context.how.password}, context.how.credentials),
            true};
}

} // namespace holdfast::redis
