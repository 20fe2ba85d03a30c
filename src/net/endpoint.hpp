// SPDX-License-Identifier: Apache-2.0
// Addresses of servers, and the sockets, credentials and option checks for connections to them.
#pragma once

#include "net/tls.hpp"

#include <holdfast/address.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/error.hpp>
#include <holdfast/time.hpp>
#include <holdfast/tls.hpp>

#include <boost/asio/generic/stream_protocol.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::net {

/// TCP socket or unix socket.
using stream_socket = asio::generic::stream_protocol::socket;
using stream_endpoint = asio::generic::stream_protocol::endpoint;

/// Opens a socket for the endpoint, but does not connect it. Sets the socket options that Asio does
/// not set: close-on-exec, non-blocking, no delay of small writes. Makes the kernel detect a dead
/// peer; `timeout` is the timeout of one reply.
error_code open_socket(stream_socket&, const stream_endpoint&, duration timeout);

/// Returns a server's address as text for messages: `db.internal:6379`, `[::1]:6379`, or for a
/// socket's path `unix:/run/redis.sock`.
std::string address_of(const std::string& unix_socket, const std::string& host, std::uint16_t port);
std::string address_of(const server_address&);

/// Returns the address of a TCP endpoint. The result is empty for other endpoints.
std::string address_of(const stream_endpoint&);

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

    const std::string unix_socket; ///< path of the unix socket; empty: TCP is used
    const std::string host;
    const std::uint16_t port;
    /// Address of the server as text, for error messages.
    const std::string address = address_of(unix_socket, host, port);
    const std::unique_ptr<tls_context> tls; ///< null if the connection has no TLS
};

/// Returns the user name and password for the next connection. The provider fills empty fields of
/// `fixed`; the provider may be empty. Throws `failure` (unreachable) if the provider throws.
credentials credentials_now(const credentials& fixed, const credential_provider&);

/// Length limit of a server name in a certificate and in a ClientHello, in bytes.
inline constexpr std::size_t server_name_bytes_max = 253;

/// Checks for options that all stores have. If a value is not allowed, the check throws
/// `errc::invalid_argument`. The error text contains `whose` and names the field.
class option_checks {
public:
    /// Creates the checks. `whose` is a string literal that names the options, for example
    /// `redis::options`.
    explicit constexpr option_checks(std::string_view whose)
        : whose_{whose} {}

    void require(bool holds, std::string_view why_not) const;

    /// Checks that a time is between `least` and 1 day.
    void time(duration value, std::string_view field, duration least = duration{1}) const;
    void backoff(duration least, duration most) const;

    void no_nul(std::string_view text, std::string_view field) const;
    void unix_socket(std::string_view path) const;
    void host(std::string_view name, std::string_view field) const;

    /// Server that appears twice in a list, with its two positions.
    struct repeated {
        server_address which;
        std::size_t first, again;

        /// Returns the positions as text, for example `number 1 and 2`.
        std::string numbers() const;
    };
    /// Checks a list of 1 to 64 servers, each with a host. Port 0 means `usual_port`. Returns the
    /// first repeated server; servers after it are not checked.
    [[nodiscard]] std::optional<repeated>
    servers(std::vector<server_address>, std::uint16_t usual_port, std::string_view field) const;

    /// Checks that a certificate is given with its key, and a key with its certificate.
    void certificate(const tls_options&, const std::string& field) const;
    /// Checks that the files can be read and used.
    void files(const tls_options&) const;

private:
    const std::string_view whose_;
};

} // namespace holdfast::net
