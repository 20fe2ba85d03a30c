// SPDX-License-Identifier: Apache-2.0
// A real redis-server or valkey-server of a test's own: in a fresh folder, on a unix socket, with
// nothing saved, gone when the object or the test program is.
#pragma once

#include "support/redis_connection.hpp"
#include "support/reserved_port.hpp"
#include "support/server_process.hpp"
#include "support/servers.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

class moved_clock;

class redis_server {
public:
    struct options {
        bool tcp = false;                     ///< also on 127.0.0.1, on a port that is free
        bool tls = false;                     ///< a second one, for TLS; `arguments` say how
        bool cluster = false;                 ///< a node of one; without `nodes` it has no slots
        bool own_clock = false;               ///< `step_clock` works; needs a C compiler
        std::vector<std::string> arguments{}; ///< as on its command line
        bool keeps_data = false;              ///< `restart` finds what was there
        std::string password{};               ///< of its default user
        std::string nodes{};                  ///< the nodes.conf that it starts with
        std::string sentinel{};               ///< lines of its configuration: it is a Sentinel

        // Zero: one that is free. Others are reserved by who gives them.
        std::uint16_t port = 0, tls_port = 0, bus_port = 0;
    };

    /// Returns when it answers. The server dies with the thread that makes it.
    explicit redis_server(const server_binary& which = servers().front())
        : redis_server{which, options{}} {}
    redis_server(server_binary, options);
    redis_server(const redis_server&) = delete;
    ~redis_server();

    void start();
    void stop();          ///< at once, as kill -9 does
    void restart();       ///< on the same addresses; its clock stays stepped
    void restart_empty(); ///< likewise, without data; a Sentinel: as it was in the beginning
    void restart_empty(std::vector<std::string> arguments); ///< with these instead of those it had
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, nothing is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< as far as we have done it

    /// Moves the date of the server, and so the end of every lease, forward or back.
    void step_clock(duration);
    void right_clock(); ///< all steps are undone

    /// On a connection of its own. Where the server has closed that, as Sentinels have it done, a
    /// new one is made and the command repeated. Errors of the server are answers.
    redis::reply command(const std::vector<std::string>& words);

    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; } ///< 0 without TCP
    std::uint16_t tls_port() const { return tls_port_; }
    std::uint16_t bus_port() const { return bus_port_; } ///< of a cluster
    const std::string& socket_path() const { return socket_; }
    std::string url() const; ///< TCP where it was asked for
    const std::string& label() const { return which_.label; }

private:
    std::uint16_t reserve();
    void write_configuration() const;
    std::vector<std::string> command_line() const;
    bool answers();

    server_binary which_;
    options how_;
    server_process process_;
    std::string socket_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::uint16_t bus_port_ = 0; // else it is 10000, for all servers without TCP
    std::vector<reserved_port> reserved_;
    std::unique_ptr<moved_clock> clock_;
    std::optional<redis_connection> connection_;
};

} // namespace holdfast::support
