// SPDX-License-Identifier: Apache-2.0
// Real redis-server or valkey-server of a single test. It has a fresh folder and a unix socket, and
// saves nothing. It ends with the object or the test program.
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
        bool tcp = false;                     ///< also on 127.0.0.1, on a free port
        bool tls = false;                     ///< a second port for TLS, configured by `arguments`
        bool cluster = false;                 ///< a node of a cluster; without `nodes` it has no
                                              ///< slots
        bool own_clock = false;               ///< `step_clock` works; needs a C compiler
        std::vector<std::string> arguments{}; ///< added to its command line
        bool keeps_data = false;              ///< `restart` keeps the data
        std::string password{};               ///< of its default user
        std::string nodes{};                  ///< the initial nodes.conf
        std::string sentinel{};               ///< lines of its configuration, if it is a Sentinel

        // Zero for a free port. The caller reserves any other port.
        std::uint16_t port = 0, tls_port = 0, bus_port = 0;
    };

    /// Returns when the server answers. The server ends with the thread that makes this object.
    explicit redis_server(const server_binary& which = servers().front())
        : redis_server{which, options{}} {}
    redis_server(server_binary, options);
    redis_server(const redis_server&) = delete;
    ~redis_server();

    void start();
    void stop();          ///< at once, like kill -9
    void restart();       ///< same addresses; its clock stays stepped
    void restart_empty(); ///< same addresses, without data; a Sentinel gets its initial state
    void restart_empty(std::vector<std::string> arguments); ///< replaces the arguments
    void pause() { process_.pause(); } ///< SIGSTOP: connections stay, no request is answered
    void resume() { process_.resume(); }
    bool is_up() const { return process_.is_up(); } ///< false after `stop` or `pause`

    /// Moves the server's date forward or back, and so the expiry of every lease.
    void step_clock(duration);
    void right_clock(); ///< undoes all steps

    /// Sends a command on its own connection and returns the reply. If the server has closed the
    /// connection, as after a promotion by Sentinels, it reconnects and repeats the command. An
    /// error of the server is a reply.
    redis::reply command(const std::vector<std::string>& words);

    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; } ///< 0 without TCP
    std::uint16_t tls_port() const { return tls_port_; }
    std::uint16_t bus_port() const { return bus_port_; } ///< of a cluster
    const std::string& socket_path() const { return socket_; }
    std::string url() const; ///< TCP if it was asked for
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
    std::uint16_t bus_port_ = 0; // otherwise 10000, which all servers without TCP would share
    std::vector<reserved_port> reserved_;
    std::unique_ptr<moved_clock> clock_;
    std::optional<redis_connection> connection_;
};

} // namespace holdfast::support
