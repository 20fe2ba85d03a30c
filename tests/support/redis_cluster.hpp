// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/cluster_nodes.hpp"
#include "support/server_group.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Primaries that share the slots, each with replicas that replace it when it fails. `stop`,
/// `pause`, `resume`, `restart` and `restart_empty` are functions of its servers.
class redis_cluster {
public:
    struct options {
        std::size_t primaries = 3;
        std::size_t replicas = 1; ///< of each primary
        duration node_timeout = std::chrono::milliseconds{500};
        std::vector<std::vector<slot_range>> slots{}; ///< slots of each primary; if empty,
                                                      ///< distributed evenly
        bool own_clocks = false;                      ///< `step_clock` works
        bool can_be_cut = false;                      ///< `cut` works
        bool tls = false;       ///< between the nodes, and for clients on a second port
        bool keep_data = false; ///< `restart` keeps the data
        std::string password{}; ///< of the default user
        std::vector<std::string> arguments{};
    };

    /// Returns when the cluster is ready. The servers wait two seconds before they are.
    explicit redis_cluster(const server_binary& which = support::servers().front())
        : redis_cluster{which, options{}} {}
    redis_cluster(const server_binary&, options);

    /// The primaries at the start come first, then their replicas in turn.
    redis_server& node(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }
    const std::string& id_of(const redis_server&) const;

    int slot_of(const std::string& name); ///< as the servers compute it

    /// Returns the running server that has the slot by the latest election. Waits until it is
    /// known. The server may still answer CLUSTERDOWN for a moment.
    redis_server& primary_of(int slot);
    redis_server& node_of(const std::string& name) { return primary_of(slot_of(name)); }
    redis_server& replica_of(redis_server& primary); ///< the first one that is up
    /// Returns any other primary.
    redis_server& other_primary(const redis_server&);

    enum class election {
        agreed, ///< with the primary's agreement: nothing is lost
        forced, ///< the primary is not asked; the other nodes vote
        none,   ///< TAKEOVER: no node is asked
    };
    /// Returns when `replica` is a primary. A node that was elected within the last four seconds
    /// and has been replaced since should not be elected again: redis 7.0 cannot handle this.
    void failover(redis_server& replica, election = election::agreed);

    /// Moves a slot in all its steps: open it on both sides, send the keys, and close it on all
    /// nodes.
    void move(int slot, redis_server& to);
    void begin_move(int slot, redis_server& to);
    void move_keys(int slot, redis_server& to);
    void end_move(int slot, redis_server& to);
    void call_off_moves(); ///< ends all moves; keys stay where they are

    /// Returns when all nodes that are up agree on the slots and know each other, and the replicas
    /// among them are in sync.
    void wait_until_agreed();

    void clear(); ///< FLUSHALL
    /// Makes all nodes run, empty and in agreement, with right clocks, without cuts or open slots.
    /// Roles and slots stay as they are.
    void restore();

    /// Cuts these nodes off from all others. Clients on announced ports are on the others' side.
    /// Clients on a unix socket are not affected.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone, partition::clients outside = partition::clients::cut_off) {
        cut(std::vector{&alone}, outside);
    }
    void heal() { servers_.heal(); }

    /// Returns the port for other programs; with TLS, the TLS port.
    std::uint16_t port_of(const redis_server& one) const {
        return servers_.port_of(servers_.index_of(one));
    }
    server_group& servers() { return servers_; }

    /// Returns the options for a client.
    redis::options client_options();

private:
    std::string nodes_for(std::size_t which) const;
    std::vector<std::string> arguments_for(std::size_t which) const;
    redis_server* find_primary(int slot);
    std::string latest_election();
    void forget_votes();
    bool agree();
    std::optional<std::string> told_by(redis_server&);
    bool is_well(redis_server&);
    bool is_up(const std::string& id);
    redis_server& server_named(const std::string& id);

    server_group servers_;
    const options how_;
    std::vector<cluster_line> plan_; // as at the start
    std::string known_election_;
};

/// Returns what the node says of all nodes, itself first.
std::vector<cluster_line> lines_of(redis_server&);

} // namespace holdfast::support
