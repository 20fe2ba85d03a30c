// SPDX-License-Identifier: Apache-2.0
// Primaries with replicas for tests: without Sentinels, and with Sentinels that watch them.
#pragma once

#include "support/server_group.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// A primary with its replicas, without Sentinels: only the test decides which server is the
/// primary.
class redis_replicas {
public:
    struct options {
        std::size_t replicas = 1;
        bool own_clocks = false; ///< make `step_clock` work
        bool can_be_cut = false; ///< make `cut` work
        bool tls = false;        ///< use TLS between the servers; clients use a second port
        bool keep_data = false;  ///< keep the data at a `restart`
        std::string password{};  ///< password of the default user
        std::vector<std::string> arguments{};
    };

    /// Starts the servers, and returns when all replicas are in sync.
    explicit redis_replicas(const server_binary& which = support::servers().front())
        : redis_replicas{which, options{}} {}
    redis_replicas(const server_binary&, options);

    /// Returns the server with this number. Server 0 is the primary at the start.
    redis_server& server(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }

    /// Returns the primary: server 0, or the last server that a function of this object has made
    /// the primary. Other servers may claim to be a primary, too.
    redis_server& primary() { return servers_[primary_]; }
    /// Returns a server other than the primary. `which` counts these in the order of their numbers.
    redis_server& replica(std::size_t which = 0);

    /// Runs the server's own command FAILOVER. Returns when `to` is the primary and all servers
    /// that are up follow it.
    void failover(redis_server& to);
    void failover() { failover(replica()); }

    /// Makes a server a primary with REPLICAOF, without telling the other servers. So there are two
    /// primaries.
    void promote(redis_server&);
    /// Makes `replica` a replica of `primary`. Returns when the replica has the primary's data.
    void follow(redis_server& replica, redis_server& primary);

    /// Waits until all replicas that are up have every write of the primary.
    void wait_until_in_sync();

    /// Cuts these servers off from all others. The replication between the sides stops, and the
    /// servers do not notice the cut for a minute. Connections through a unix socket are not
    /// affected.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// Restores the usual state: all servers run, are empty and in sync with `primary()`, the
    /// clocks are right, and nothing is cut.
    void restore() { restore_around(primary()); }
    void restore_around(redis_server& primary); ///< does the same and makes this server the primary

    /// Returns the port for other programs: with TLS, the TLS port.
    std::uint16_t port_of(std::size_t which) const { return servers_.port_of(which); }
    std::uint16_t port_of(const redis_server& one) const {
        return servers_.port_of(servers_.index_of(one));
    }
    server_group& servers() { return servers_; }

private:
    void require_confirmation();

    server_group servers_;
    const std::size_t replicas_;
    std::size_t primary_ = 0;
};

/// A primary, its replicas, and the Sentinels that watch them. To stop, pause or restart one of
/// them, call the functions of its `redis_server`.
class redis_sentinels {
public:
    struct options {
        std::size_t replicas = 2, sentinels = 3, quorum = 2;
        duration down_after = std::chrono::milliseconds{200};
        duration failover_timeout = std::chrono::seconds{1};
        int parallel_syncs = 1;
        bool own_clocks = false; ///< make `step_clock` of the servers work
        bool can_be_cut = false; ///< make `cut` work, also for Sentinels
        /// Use TLS for the servers. Sentinels then report TLS addresses.
        bool tls = false;
        bool keep_data = false;               ///< keep the data at a `restart`
        std::string password{};               ///< password of the servers' default user
        std::vector<std::string> arguments{}; ///< further arguments of the servers
        /// Use TLS for the Sentinels. `port_of` then returns their TLS port.
        bool sentinel_tls = false;
        std::string sentinel_password{}; ///< password of the Sentinels' default user
        /// Further lines of each Sentinel's configuration.
        std::vector<std::string> sentinel_lines{};
    };
    static constexpr const char* service = "locks";

    /// Starts all servers and Sentinels. Returns when every Sentinel knows the primary, its
    /// replicas and the other Sentinels.
    explicit redis_sentinels(const server_binary& which = support::servers().front())
        : redis_sentinels{which, options{}} {}
    redis_sentinels(const server_binary&, options);

    /// Returns the server with this number. Server 0 is the primary at the start.
    redis_server& server(std::size_t which) { return servers_.server(which); }
    redis_server& sentinel(std::size_t which) { return *sentinels_.at(which); }

    /// Waits until most running Sentinels name the same primary, and that server itself says that
    /// it is a primary. Returns that server.
    redis_server& primary();
    redis_server& replica(std::size_t which = 0); ///< one of the other servers that are up
    /// Returns the primary that this Sentinel names, or null if that server is not in this group.
    redis_server* named_by(redis_server& sentinel);

    /// Makes the Sentinels start a failover without a failure. Returns when `primary()` is another
    /// server.
    void failover();

    /// Waits until all running Sentinels know all running servers and consider them healthy. This
    /// takes ten seconds after a failover; `restore` is faster.
    void wait_until_ready();

    /// Restores the initial state: all servers and Sentinels run and are ready, the servers are
    /// empty, server 0 is the primary, and nothing is cut.
    void restore();

    /// Cuts these servers and Sentinels off from all others.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// Returns the port at which other programs reach the server or Sentinel.
    std::uint16_t port_of(const redis_server&) const;
    redis_replicas& servers() { return servers_; }

    /// Returns the options with which a client connects.
    redis::options client_options();

private:
    struct watcher {
        std::string id{};
        reserved_port plain{}, tls{};
        std::uint16_t announced = 0;
    };
    void reserve();
    std::string configuration_of(const watcher&) const;
    std::vector<redis_server*> sentinels_up();
    redis_server* named_by_most();
    void order_failover(redis_server& leader, const redis_server& old);
    bool is_ready(redis_server& sentinel);
    bool is_as_in_the_beginning();

    const options how_;
    redis_replicas servers_;
    std::vector<watcher> watchers_;
    std::unique_ptr<server_tls> tls_; ///< certificate of the Sentinels
    std::vector<std::unique_ptr<redis_server>> sentinels_;
};

} // namespace holdfast::support
