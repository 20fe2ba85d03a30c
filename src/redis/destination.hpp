// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/address.hpp"
#include "net/tls_context.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Where one server is, and how to know that it is the right one.
struct destination {
    explicit destination(const options& how)
        : unix_socket{how.unix_socket.empty() ? socket_in(how.host) : how.unix_socket}
        , host{how.host}
        , port{how.port}
        , tls{context_for(how.tls, how.host)} {}

    destination(const server_address& where, const std::optional<tls_options>& over)
        : unix_socket{socket_in(where.host)}
        , host{where.host}
        , port{where.port}
        , tls{context_for(over, where.host)} {}

    const std::string unix_socket; ///< empty: it is over TCP
    const std::string host;
    const std::uint16_t port;
    const std::string address = net::address_of(unix_socket, host, port); ///< for people
    const std::unique_ptr<net::tls_context> tls;                          ///< null: plain

private:
    /// A host that is a path is a socket: so several servers may be in one process of tests.
    static std::string socket_in(const std::string& host) {
        return host.starts_with('/') ? host : std::string{};
    }

    static std::unique_ptr<net::tls_context> context_for(const std::optional<tls_options>& how,
                                                         const std::string& host) {
        return how ? std::make_unique<net::tls_context>(*how, host) : nullptr;
    }
};

} // namespace holdfast::redis
