// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/credentials.hpp"
#include "redis/node_context.hpp"

#include <cstdint>

namespace holdfast::redis {

/// Of a Sentinel, unless another is given.
inline server_address sentinel_at(server_address where) {
    constexpr std::uint16_t usual_port = 26379;
    if (where.port == 0)
        where.port = usual_port;
    return where;
}

/// What Sentinels are told of who asks: the servers' user and password, unless they have others.
inline credentials sentinel_login(const node_context& context) {
    const sentinel_options& own = *context.how.sentinel;
    if (!own.user.empty() || !own.password.empty())
        return {own.user, own.password};
    return net::credentials_now({context.how.user, context.how.password}, context.how.credentials);
}

} // namespace holdfast::redis
