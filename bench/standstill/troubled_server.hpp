// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace holdfast::bench {

/// Server for one client, over TLS, and the network path to it. Both can be made to fail.
class troubled_server {
public:
    virtual ~troubled_server() = default;

    virtual std::string url() const = 0; ///< URL for `client`

    /// Closes all connections at once (RST). New connections are possible.
    virtual void cut() = 0;
    /// Stops the server with SIGSTOP. Connections stay open and new connections are accepted, but
    /// the server does not reply.
    virtual void freeze() = 0;
    virtual void thaw() = 0;
    virtual void kill() = 0;
    virtual void revive() = 0; ///< starts the server again, with its data

protected:
    troubled_server() = default;
};

// Both functions throw `not_here`.
std::unique_ptr<troubled_server> troubled_keeper();
std::unique_ptr<troubled_server> troubled_database();

} // namespace holdfast::bench
