// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/server_group.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::support {

/// A primary with its replicas. There are no Sentinels: only the test decides which server is the
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

    /// Returns the server that was last made the primary by a function of this object. Another
    /// server may also claim to be a primary.
    redis_server& primary() { return servers_[primary_]; }
    /// one of the other servers, in the order of their numbers
    redis_server& replica(std::size_t which = 0);

    /// Runs the server's own FAILOVER. Returns when `to` is the primary and all servers that are up
    /// follow it.
    void failover(redis_server& to);
    void failover() { failover(replica()); }

    /// Makes a server a primary by REPLICAOF. The other servers are not told, so there are two
    /// primaries.
    void promote(redis_server&);
    /// returns when the replica has the primary's data
    void follow(redis_server& replica, redis_server& primary);

    /// Waits until all replicas that are up have every write of the primary.
    void wait_until_in_sync();

    /// Cuts these servers off from all others. The other side loses everything that one side
    /// writes. The servers do not notice the cut for a minute. Clients that use a unix socket are
    /// not affected.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// Restores a usual state: all servers run, are empty and are in sync with `primary()`. The
    /// clocks are right, and nothing is cut.
    void restore() { restore_around(primary()); }
    void restore_around(redis_server& primary); ///< does the same and makes this server the primary

    /// Returns the port that other programs use. With TLS it is the TLS port.
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

} // namespace holdfast::support
