// SPDX-License-Identifier: Apache-2.0
#include "redis/address.hpp"

namespace holdfast::redis {

std::string address_of(const options& how) {
    if (!how.unix_socket.empty())
        return "unix:" + how.unix_socket;
    const bool bare_v6 = how.host.find(':') != std::string::npos && !how.host.starts_with('[');
    return (bare_v6 ? '[' + how.host + ']' : how.host) + ':' + std::to_string(how.port);
}

} // namespace holdfast::redis
