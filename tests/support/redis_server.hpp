// SPDX-License-Identifier: Apache-2.0
// Redis and Valkey servers for tests, and functions that read their state and their keys.
#pragma once

#include "support/redis_connection.hpp"
#include "support/server_process.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

// redis-server or valkey-server of a single test. It has a new folder and a unix socket, and saves
// nothing. It ends with the object or the test program.

class moved_clock;

class redis_server {
public:
    struct options {
        bool tcp = false; ///< listen also on 127.0.0.1, on a free port
        /// Listen on a second port for TLS. `arguments` must have the TLS options.
        bool tls = false;
        /// Start a node of a cluster. If `nodes` is empty, the node has no slots.
        bool cluster = false;
        bool own_clock = false;               ///< make `step_clock` work; needs a C compiler
        std::vector<std::string> arguments{}; ///< further words of the server's command line
        bool keeps_data = false;              ///< keep the data at a `restart`
        std::string password{};               ///< password of the default user
        std::string nodes{};                  ///< initial contents of nodes.conf
        /// Lines of a Sentinel's configuration. If not empty, the server is a Sentinel.
        std::string sentinel{};

        // Ports; zero: a free port. If a port is given, the caller has reserved it.
        std::uint16_t port = 0, tls_port = 0, bus_port = 0;
    };

    /// Starts the server, and returns when it answers. The server ends when the thread that called
    /// the constructor ends.
    explicit redis_server(const server_binary& which = servers().front())
        : redis_server{which, options{}} {}
    redis_server(server_binary, options);
    redis_server(const redis_server&) = delete;
    ~redis_server();

    void start();
    void stop();    ///< kills the server, like kill -9
    void restart(); ///< restarts with the same addresses; steps of the clock stay
    /// Restarts the server with the same addresses and without data. A Sentinel gets its initial
    /// state.
    void restart_empty();
    void restart_empty(std::vector<std::string> arguments); ///< restarts with other arguments
    void pause() { process_.pause(); } ///< sends SIGSTOP: connections stay open, but get no replies
    void resume() { process_.resume(); }
    /// Returns whether the server runs. False after `stop` or `pause`.
    bool is_up() const { return process_.is_up(); }

    /// Moves the server's date forward or back. Leases then expire earlier or later.
    void step_clock(duration);
    void right_clock(); ///< undoes all steps of the clock

    /// Sends a command over its own connection, and returns the reply, which may be an error reply.
    /// If the server has closed the connection, for example after a promotion by Sentinels,
    /// connects again and repeats the command.
    redis::reply command(const std::vector<std::string>& words);

    pid_t pid() const { return process_.pid(); }
    std::uint16_t port() const { return port_; } ///< TCP port; 0 without TCP
    std::uint16_t tls_port() const { return tls_port_; }
    std::uint16_t bus_port() const { return bus_port_; } ///< port of the cluster bus
    const std::string& socket_path() const { return socket_; }
    std::string url() const; ///< URL for a client; for TCP if `tcp` is set
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
    // Port of the cluster bus. Without it, every server without TCP would use 10000.
    std::uint16_t bus_port_ = 0;
    std::vector<reserved_port> reserved_;
    std::unique_ptr<moved_clock> clock_;
    std::optional<redis_connection> connection_;
};

// Functions that read what servers report about themselves.

/// Returns a field of INFO, or an empty text if the field is missing.
std::string info_of(redis_server&, const std::string& section, const std::string& field);

/// Returns the replication offset: the number of bytes that a primary has sent or a replica has
/// received.
long long offset_of(redis_server&);

bool is_primary(redis_server&);

/// Returns whether this replica has received all data up to `offset` from its primary.
bool is_in_sync(redis_server& replica, long long offset);

/// Returns the number of replicas that have received all data of this primary.
int replicas_online(redis_server&);

/// Returns the keys of locks: all keys, except those that may remain after a release (client
/// information, waiters for spin locks, and counters of fencing tokens).
inline std::vector<std::string> lock_keys(redis_server& server) {
    std::vector<std::string> all;
    for (redis::reply& key : server.command({"KEYS", "*"}).items)
        if (!key.text.starts_with("holdfast_client:") && key.text != "holdfast_clients" &&
            !key.text.starts_with("redisson_lock_token:") && !key.text.ends_with(":waiters"))
            all.push_back(std::move(key.text));
    return all;
}

} // namespace holdfast::support
