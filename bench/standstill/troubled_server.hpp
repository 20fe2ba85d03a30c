// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace holdfast::bench {

/// Server for one client, over TLS, with the network path between them. Both can fail.
class troubled_server {
public:
    virtual ~troubled_server() = default;

    virtual std::string url() const = 0; ///< as `client` takes it

    virtual void cut() = 0;    ///< closes all connections at once (RST); new connections are
                               ///< possible
    virtual void freeze() = 0; ///< SIGSTOP: connections stay and new ones are made, but the server
                               ///< does not answer
    virtual void thaw() = 0;
    virtual void kill() = 0;
    virtual void revive() = 0; ///< starts the server again with its data

protected:
    troubled_server() = default;
};

// Both throw `not_here`.
std::unique_ptr<troubled_server> troubled_keeper();
std::unique_ptr<troubled_server> troubled_database();

} // namespace holdfast::bench
