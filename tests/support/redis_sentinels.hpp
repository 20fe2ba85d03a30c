// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_replicas.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

/// A primary, its replicas, and the Sentinels that watch them. `stop`, `pause`, `resume`, `restart`
/// and `restart_empty` are functions of the servers and of the Sentinels.
class redis_sentinels {
public:
    struct options {
        std::size_t replicas = 2, sentinels = 3, quorum = 2;
        duration down_after = std::chrono::milliseconds{200};
        duration failover_timeout = std::chrono::seconds{1};
        int parallel_syncs = 1;
        bool own_clocks = false;              ///< of the servers: `step_clock` works
        bool can_be_cut = false;              ///< `cut` works, for Sentinels too
        bool tls = false;                     ///< of the servers: Sentinels name their TLS address
        bool keep_data = false;               ///< `restart` keeps the data
        std::string password{};               ///< of the servers' default user
        std::vector<std::string> arguments{}; ///< of the servers
        bool sentinel_tls = false;            ///< `port_of` a Sentinel is for TLS
        std::string sentinel_password{};      ///< of the Sentinels' default user
        std::vector<std::string> sentinel_lines{}; ///< added to each Sentinel's configuration
    };
    static constexpr const char* service = "locks";

    /// Returns when all Sentinels know the primary, its replicas and each other.
    explicit redis_sentinels(const server_binary& which = support::servers().front())
        : redis_sentinels{which, options{}} {}
    redis_sentinels(const server_binary&, options);

    /// 0 is the primary at the start
    redis_server& server(std::size_t which) { return servers_.server(which); }
    redis_server& sentinel(std::size_t which) { return *sentinels_.at(which); }

    /// Returns the primary that most running Sentinels name, and that itself says it is a primary.
    /// Waits until there is one.
    redis_server& primary();
    redis_server& replica(std::size_t which = 0); ///< of the other servers that are up
    /// Returns null if the Sentinel names a server that is not in this group.
    redis_server* named_by(redis_server& sentinel);

    /// Makes the Sentinels start a failover, although nothing is wrong. Returns when `primary()` is
    /// another server.
    void failover();

    /// Returns when all running Sentinels know all running servers and consider them healthy. A
    /// server that was a primary joins only ten seconds after a failover, or in `restore`.
    void wait_until_ready();

    /// Restores the initial state: all run, empty and ready, server 0 is the primary, and nothing
    /// is cut.
    void restore();

    /// Cuts servers and Sentinels off.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// Returns the port for other programs, of a server or a Sentinel.
    std::uint16_t port_of(const redis_server&) const;
    redis_replicas& servers() { return servers_; }

    /// Returns the options for a client.
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
    std::unique_ptr<server_tls> tls_; ///< of the Sentinels
    std::vector<std::unique_ptr<redis_server>> sentinels_;
};

} // namespace holdfast::support
