// SPDX-License-Identifier: Apache-2.0
// redis-server process for the benchmark, and a connection to it without holdfast. The file also
// has the servers of any store (`site`), and their statistics (`ledger`).
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace holdfast::bench {

struct closes_connection {
    void operator()(redisContext* context) const { redisFree(context); }
};
using connection = std::unique_ptr<redisContext, closes_connection>;

struct frees_reply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using reply = std::unique_ptr<redisReply, frees_reply>;

/// Exception: the server sent an error reply.
struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws the connection's error, or `server_error` for an error reply.
void expect_answer(const redisContext&, const redisReply*);

/// Reads the reply to an earlier request. Requests and replies have the same order.
reply next_answer(const connection&);

reply ask(const connection&, const std::vector<std::string_view>& words);

/// Sends a request that is encoded in the server's protocol already. Reads the reply.
reply ask_composed(const connection&, std::string_view request);

// Statistics of a server. They prove that the server did the work, so a program that does nothing
// cannot look fast.

/// Minimum and maximum number of scripts that the server must have run for the operations that a
/// program reports. On ZooKeeper, writes are counted instead of scripts, and on MariaDB UPDATEs.
struct claim {
    long long least, most;
};

class ledger {
public:
    virtual ~ledger() = default;

    virtual void clear() = 0; ///< resets all numbers to zero

    /// Returns a text if the server's numbers are outside the limits `claim`, or if keys were left
    /// behind. Returns an empty text if everything is right.
    virtual std::string trouble_with(const claim&) const = 0;

    virtual long long commands_sent() const = 0;
    virtual double cpu_seconds() const = 0;

protected:
    ledger() = default;
    ledger(ledger&&) = default;
    ledger& operator=(ledger&&) = default;
};

// Statistics of a Redis server.

/// Statistics of one server, or the sum over several servers.
class accounts final : public ledger {
public:
    explicit accounts(connection to) { servers_.push_back(std::move(to)); }
    explicit accounts(std::vector<connection> to)
        : servers_{std::move(to)} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;

    /// Returns how many scripts were run. A script that the server did not have (NOSCRIPT) is not
    /// included.
    long long scripts_run() const;

    /// Returns the number of requests for a script, to subscribe or to unsubscribe, including
    /// refused requests. Does not count commands inside scripts and PINGs.
    long long commands_sent() const override;

    /// Returns how many times a TTL was set, inside and outside scripts. A grant also sets a TTL.
    long long leases_extended() const;

    /// Returns the names of all keys. A key with a copy on a replica is listed twice.
    std::vector<std::string> keys() const;
    double cpu_seconds() const override;
    std::string version() const;

private:
    long long successes(std::initializer_list<const char*> commands) const;
    std::vector<connection> servers_;
};

/// Returns the value of HOLDFAST_REDIS_SERVER, or `redis-server` (found in PATH).
std::string server_program();

enum class transport { unix_socket, tcp_loopback };

/// redis-server that listens on a unix socket and on 127.0.0.1. The server uses a temporary folder,
/// and saves nothing. The server ends with this process, even after a crash.
class server {
public:
    /// Starts the server, and waits until it replies. If the server cannot start, throws an error
    /// with the server's log.
    server();
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::string url(transport) const;    ///< URL for `client`
    connection connect(transport) const; ///< throws if the connection is refused

    /// Returns a folder for the logs of other programs. The folder exists as long as this object.
    const std::filesystem::path& folder() const { return home_.path; }

private:
    class own_folder {
    public:
        own_folder();
        ~own_folder();
        own_folder(const own_folder&) = delete;
        own_folder& operator=(const own_folder&) = delete;
        const std::filesystem::path path;
    };

    void start();
    void wait_until_it_answers();
    void stop() noexcept;
    std::filesystem::path log_file() const { return home_.path / "log"; }
    std::filesystem::path socket_file() const { return home_.path / "socket"; }

    own_folder home_;
    const int tcp_port_;
    pid_t process_ = -1;
};

} // namespace holdfast::bench

namespace holdfast::support {
class mariadb_server;
} // namespace holdfast::support

namespace holdfast::bench {

/// Servers of a contest that needs several servers, or another store than Redis. Clients use them
/// over TCP.
struct site {
    std::string url;                  ///< URL for `client`, without parameters
    std::vector<std::uint16_t> ports; ///< ports of all servers, the primaries first
    std::size_t primaries = 1;
    /// Function that creates the statistics. Empty if the servers are Redis servers.
    std::function<std::unique_ptr<ledger>()> books{};
    support::mariadb_server* database = nullptr; ///< set if the server is MariaDB
};

/// Connects to a port on the loopback device. Throws if the connection is refused.
connection connect_to(std::uint16_t port);

std::vector<connection> connect_to_all(const site&);
std::vector<connection> connect_to_primaries(const site&);

/// Additional servers, for locks on several servers. Each server is started at its first use, and
/// runs until the end of the benchmark, because a connected JVM would report errors after an
/// earlier end.
class more_servers {
public:
    const server& at(std::size_t which) {
        while (all_.size() <= which)
            all_.emplace_back();
        return all_[which];
    }

    double cpu_seconds() const {
        double sum = 0;
        for (const server& each : all_)
            sum += accounts{each.connect(transport::unix_socket)}.cpu_seconds();
        return sum;
    }

private:
    std::deque<server> all_; // a deque does not move its elements
};

} // namespace holdfast::bench
