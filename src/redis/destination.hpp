// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/destination.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>

namespace holdfast::redis {

using net::destination;

/// Returns the endpoint that the options name: a unix socket, or a host and port.
inline std::shared_ptr<const destination> destination_of(const options& how) {
    const server_address where{how.host, how.port};
    if (how.unix_socket.empty())
        return std::make_shared<const destination>(where, how.tls);
    return std::make_shared<const destination>(how.unix_socket, where, how.tls);
}

} // namespace holdfast::redis
