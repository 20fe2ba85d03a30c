// SPDX-License-Identifier: Apache-2.0
// A real redis-server or valkey-server of a test's own: in a fresh folder, on a unix socket, with
// nothing saved, gone when the object or the test program is.
#pragma once

#include "support/redis_connection.hpp"
#include "support/reserved_port.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

struct server_binary {
    std::string label; ///< for people, as in "valkey-8"
    std::string path;
};

/// Those that tests run on: HOLDFAST_SERVERS ("redis-7.0=/usr/bin/redis-server;valkey-8=…"), or
/// the redis-server in the PATH.
std::vector<server_binary> servers();

/// Those of HOLDFAST_NEWER_SERVERS, in the same form: only what newer servers do in another way is
/// also tested on them. There may be none.
std::vector<server_binary> newer_servers();

/// Those that an environment variable names in that form; none if it is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Whether a server that is not there fails the tests instead of skipping them:
/// HOLDFAST_REQUIRE_SERVERS=1.
bool servers_are_required();

/// There is no such program, or it does not start.
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

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
    void pause(); ///< SIGSTOP: connections stay, nothing is answered
    void resume();
    bool is_up() const { return pid_ != 0 && !is_paused_; } ///< as far as we have done it

    /// Moves the date of the server, and so the end of every lease, forward or back.
    void step_clock(duration);
    void right_clock(); ///< all steps are undone

    /// On a connection of its own. Where the server has closed that, as Sentinels have it done, a
    /// new one is made and the command repeated. Errors of the server are answers.
    redis::reply command(const std::vector<std::string>& words);

    pid_t pid() const { return pid_; }
    std::uint16_t port() const { return port_; } ///< 0 without TCP
    std::uint16_t tls_port() const { return tls_port_; }
    std::uint16_t bus_port() const { return bus_port_; } ///< of a cluster
    const std::string& socket_path() const { return socket_; }
    std::string url() const; ///< TCP where it was asked for
    const std::string& label() const { return which_.label; }

private:
    struct folder {
        folder();
        ~folder();
        std::filesystem::path path;
    };

    std::uint16_t reserve();
    void write(const char* name, const std::string& text) const;
    void write_configuration() const;
    void remove(const char* name) const;
    std::vector<std::string> command_line() const;
    void wait_until_it_answers();
    bool answers();
    std::string last_words() const;

    server_binary which_;
    options how_;
    folder folder_;
    std::string socket_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::uint16_t bus_port_ = 0; // else it is 10000, for all servers without TCP
    std::vector<reserved_port> reserved_;
    pid_t pid_ = 0;
    bool is_paused_ = false;
    std::unique_ptr<moved_clock> clock_;
    std::optional<redis_connection> connection_;
};

} // namespace holdfast::support
