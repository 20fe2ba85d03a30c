// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/server_group.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::support {

/// A primary with replicas that follow it. Nobody watches over them: who is the primary is decided
/// by the test alone.
class redis_replicas {
public:
    struct options {
        std::size_t replicas = 1;
        bool own_clocks = false; ///< `step_clock` works
        bool can_be_cut = false; ///< `cut` works
        bool tls = false;        ///< they speak it to each other, and to clients on a second port
        bool keep_data = false;  ///< `restart` finds what was there
        std::string password{};  ///< of the default user
        std::vector<std::string> arguments{};
    };

    /// Returns when all replicas are in sync.
    explicit redis_replicas(const server_binary& which = support::servers().front())
        : redis_replicas{which, options{}} {}
    redis_replicas(const server_binary&, options);

    /// 0 was the primary in the beginning.
    redis_server& server(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }

    /// The one that the verbs below have made the primary, whatever else may say that it is one.
    redis_server& primary() { return servers_[primary_]; }
    redis_server& replica(std::size_t which = 0); ///< of the others, in their order

    /// By the server's own FAILOVER. Returns when `to` is the primary and all that are up follow
    /// it.
    void failover(redis_server& to);
    void failover() { failover(replica()); }

    /// REPLICAOF by hand, which tells nobody else: two are primaries then.
    void promote(redis_server&);
    void follow(redis_server& replica, redis_server& primary); ///< returns when it has its data

    /// Returns when all that are up and not the primary have what that has written.
    void wait_until_in_sync();

    /// From now on what is written at one side is lost for the other: these and all others. The
    /// servers do not notice for a minute. Clients on a unix socket pass.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone) { cut({&alone}); }
    void heal() { servers_.heal(); }

    /// All are up, empty, and in sync with `primary()`; clocks are right, nothing is cut.
    void restore() { restore_around(primary()); }
    void restore_around(redis_server& primary); ///< this will be it

    /// Where others find it; with TLS, its port for that.
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
