// SPDX-License-Identifier: Apache-2.0
// Servers other than a single Redis server: replicas, clusters, Sentinels, other stores, and
// servers that fail during a measurement.
#pragma once

#include "bench/server/server.hpp"
#include "mysql/tcp_way.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_replicas.hpp"
#include "support/zookeeper_server.hpp"

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::bench {

/// Statistics of a ZooKeeper server. The server numbers its transactions, so the last number tells
/// how many writes there were. Heartbeats may count as transactions, too.
class keeper_books final : public ledger {
public:
    explicit keeper_books(const support::zookeeper_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    long long commands_sent() const override; ///< requests of all clients, including pings
    double cpu_seconds() const override;

private:
    long long transactions() const;
    long long figure(const std::string& name) const;

    const support::zookeeper_server& server_;
    long long transactions_before_ = 0;
};

/// Single server of another store than Redis.
class lone_server {
public:
    virtual ~lone_server() = default;
    virtual double cpu_seconds() const = 0;
    virtual std::string version() = 0;
};

/// Replicas, clusters and servers of other stores, as in the tests. Each server is started when it
/// is used for the first time. It runs until the thread that used it first ends.
class server_groups {
public:
    support::redis_replicas& replicas(); ///< a primary with two replicas
    support::redis_cluster& cluster(std::size_t primaries, std::size_t replicas_each);
    support::redis_sentinels& sentinels();
    /// Returns a ZooKeeper server whose writes do not wait for the disk.
    support::zookeeper_server& keeper();

    /// Returns the server of this type, and starts it at the first call.
    template <std::derived_from<lone_server> Server>
    Server& the() {
        for (const auto& each : lone_)
            if (auto* const found = dynamic_cast<Server*>(each.get()))
                return *found;
        lone_.push_back(std::make_unique<Server>());
        return static_cast<Server&>(*lone_.back());
    }

    double cpu_seconds();   ///< CPU time of all running servers
    std::string versions(); ///< versions of the running servers, except Redis

private:
    std::unique_ptr<support::redis_replicas> replicas_;
    std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<support::redis_cluster>>
        clusters_;
    std::unique_ptr<support::redis_sentinels> sentinels_;
    std::unique_ptr<support::zookeeper_server> keeper_;
    std::vector<std::unique_ptr<lone_server>> lone_;
};

/// Return the addresses of all nodes, or of all Sentinels, such as "127.0.0.1:7000".
std::vector<std::string> addresses_of(support::redis_cluster&);
std::vector<std::string> addresses_of(support::redis_sentinels&);

/// Return the URL of the group for a client.
std::string url_of(support::redis_cluster&);
std::string url_of(support::redis_sentinels&);

// Sites of contests without failing servers.
site two_replicas(server_groups&);
site one_primary(server_groups&); ///< primary of a cluster
site three_primaries(server_groups&);
site three_primaries_with_replicas(server_groups&);
site one_keeper(server_groups&); ///< throws `not_here`

/// Ways in which a primary fails. `kill`: it gets SIGKILL. `stop`: it gets SIGSTOP, so that its
/// connections stay open, but it does not reply. `order`: it works, but a command promotes a
/// replica.
enum class fault { kill, stop, order };

/// Group of servers in which a replica replaces a primary that has failed.
class realm {
public:
    virtual ~realm() = default;

    virtual std::string url() const = 0; ///< URL for `client`

    /// Returns the arguments for the program with Redisson: the kind of group, and the addresses.
    virtual std::string words_for_redisson() const = 0;

    virtual void restore() = 0; ///< makes all servers run, empty and healthy
    virtual support::redis_server& primary() = 0;
    /// Returns the replicas of the primary that fails.
    virtual std::vector<support::redis_server*> replicas() = 0;

    virtual bool is_kept_by_primary(const std::string& name) const = 0;
    virtual std::string_view telling() const = 0; ///< returns the command that publishes a release
    /// Returns the subcommand of PUBSUB that counts subscribers.
    virtual std::string_view counting_listeners() const = 0;

    void fail(fault);

private:
    virtual void order() = 0; ///< promotes a replica by a command; waits for the reply
};

std::unique_ptr<realm> cluster_realm(server_groups&);
std::unique_ptr<realm> sentinel_realm(server_groups&);

/// Server for one client, over TLS, and the network path to the server. A measurement can make both
/// fail.
class troubled_server {
public:
    virtual ~troubled_server() = default;

    virtual std::string url() const = 0; ///< URL for `client`

    /// Closes all connections at once (RST). New connections can be opened.
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
