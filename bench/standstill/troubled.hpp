// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/standstill/troubled_server.hpp"
#include "mysql/tcp_way.hpp"

#include <cstdint>
#include <utility>

namespace holdfast::bench {

/// Implementation that the failing servers of all stores share.
template <typename Server>
class troubled : public troubled_server {
public:
    void cut() final { way_.reset_all(); }
    void freeze() final { server_.pause(); }
    void thaw() final { server_.resume(); }
    void kill() final { server_.stop(); }
    void revive() final { server_.start(); }

protected:
    /// Starts the server. `port` returns the server's port for TLS.
    template <typename... How>
    explicit troubled(std::uint16_t (Server::*port)() const, How&&... how)
        : server_{std::forward<How>(how)...}
        , way_{(server_.*port)()} {}

    Server& server() { return server_; }

    /// Returns the server's address for the client, for example "127.0.0.1:4711".
    std::string address() const { return "127.0.0.1:" + std::to_string(way_.port()); }
    std::string settings_of_tls() const {
        return "?tls=yes&tls_ca_file=" + server_.certificates().file();
    }

private:
    Server server_;
    tcp_way way_;
};

} // namespace holdfast::bench
