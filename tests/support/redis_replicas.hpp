// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/server_group.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::support {

/// A primary with replicas that follow it. No Sentinel watches them: only the test decides which
/// server is the primary.
class redis_replicas {
public:
    struct options {
        std::size_t replicas = 1;
        bool own_clocks = false; ///< `step_clock` works
        bool can_be_cut = false; ///< `cut` works
        bool tls = false;        ///< between the servers, and for clients on a second port
        bool keep_data = false;  ///< `restart` keeps the data
        std::string password{};  ///< of the default user
        std::vector<std::string> arguments{};
    };

    /// Returns when all replicas are in sync.
    explicit redis_replicas(const server_binary& which = support::servers().front())
        : redis_replicas{which, options{}} {}
    redis_replicas(const server_binary&, options);

    /// Server 0 is the primary at the start.
    redis_server& server(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }

    /// Returns the server that the functions below have made the primary, even if another server
    /// also says that it is one.
    redis_server& primary() { return servers_[primary_]; }
    redis_server& replica(std::size_t which = 0); ///< of the other servers, in their order

    /// Uses the server's own FAILOVER. Returns when `to` is the primary and all servers that are up
    /// follow it.
    void failover(redis_server& to);
    void failover() { failover(replica()); }

    /// Makes a server a primary by REPLICAOF. The others do not learn of it, so there are two
    /// primaries.
    void promote(redis_server&);
    void follow(redis_server& replica, redis_server& primary); ///< returns when it has the
                                                               ///< primary's data

    /// Returns when all replicas that are up have everything that the primary has written.
    void wait_until_in_sync();

    /// Cuts these servers off from all others: what one side writes is lost for the other. The
    /// servers do not notice for a minute. Clients on a unix socket are not affected.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// Makes all servers run, empty and in sync with `primary()`, with right clocks and without
    /// cuts.
    void restore() { restore_around(primary()); }
    void restore_around(redis_server& primary); ///< this server becomes the primary

    /// Returns the port for other programs; with TLS, the TLS port.
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
