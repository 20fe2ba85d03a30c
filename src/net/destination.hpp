// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/address.hpp"
#include "net/tls_context.hpp"

#include <holdfast/address.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::net {

/// Address of a server, and how to verify the server.
struct destination {
    /// Creates a destination. If the host is a path, it is used as the path of a unix socket; tests
    /// use this to run several servers in one process.
    destination(const server_address& where, const std::optional<tls_options>& over)
        : destination{where.host.starts_with('/') ? where.host : std::string{}, where, over} {}

    destination(std::string socket, const server_address& where,
                const std::optional<tls_options>& over)
        : unix_socket{std::move(socket)}
        , host{where.host}
        , port{where.port}
        , tls{over ? std::make_unique<tls_context>(*over, where.host) : nullptr} {}

    const std::string unix_socket; ///< empty: TCP
    const std::string host;
    const std::uint16_t port;
    /// Address as text, for error messages.
    const std::string address = address_of(unix_socket, host, port);
    const std::unique_ptr<tls_context> tls; ///< null if the connection has no TLS
};

} // namespace holdfast::net
