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

/// Primaries that share the slots, each with replicas that take its place when it is missed.
/// `stop`, `pause`, `resume`, `restart` and `restart_empty` are verbs of its servers.
class redis_cluster {
public:
    struct options {
        std::size_t primaries = 3;
        std::size_t replicas = 1; ///< of each primary
        duration node_timeout = std::chrono::milliseconds{500};
        std::vector<std::vector<slot_range>> slots{}; ///< of each primary; empty: shared out evenly
        bool own_clocks = false;                      ///< `step_clock` works
        bool can_be_cut = false;                      ///< `cut` works
        bool tls = false;       ///< they speak it to each other, and to clients on a second port
        bool keep_data = false; ///< `restart` finds what was there
        std::string password{}; ///< of the default user
        std::vector<std::string> arguments{};
    };

    /// Returns when it is ready: the servers themselves wait two seconds before they are.
    explicit redis_cluster(const server_binary& which = support::servers().front())
        : redis_cluster{which, options{}} {}
    redis_cluster(const server_binary&, options);

    /// The first ones were the primaries in the beginning, the others their replicas in turns.
    redis_server& node(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }
    const std::string& id_of(const redis_server&) const;

    int slot_of(const std::string& name); ///< as the servers compute it

    /// Who has it by the latest election, of those that are up. If it is not known, waits. For a
    /// moment it may still answer CLUSTERDOWN.
    redis_server& primary_of(int slot);
    redis_server& node_of(const std::string& name) { return primary_of(slot_of(name)); }
    redis_server& replica_of(redis_server& primary); ///< the first that is up
    /// Any primary but this.
    redis_server& other_primary(const redis_server&);

    enum class election {
        agreed, ///< with the primary: nothing is lost
        forced, ///< the primary is not asked, the others vote
        none,   ///< TAKEOVER: nobody is asked
    };
    /// Returns when it is a primary. One that was elected in the last four seconds and has lost it
    /// since should not be elected again: redis 7.0 gets confused.
    void failover(redis_server& replica, election = election::agreed);

    /// A slot in all its steps: open on both sides, keys sent, and closed for all to see.
    void move(int slot, redis_server& to);
    void begin_move(int slot, redis_server& to);
    void move_keys(int slot, redis_server& to);
    void end_move(int slot, redis_server& to);
    void call_off_moves(); ///< whatever was begun; keys stay where they are

    /// Returns when all that are up say the same of the slots and have heard of each other, and
    /// when the replicas among them are in sync.
    void wait_until_agreed();

    void clear(); ///< FLUSHALL
    /// All are up, empty, and agree; clocks are right, nothing is cut, no slot is open. Roles and
    /// slots stay as they have become.
    void restore();

    /// Nothing passes any more between these and all other nodes. Clients on the announced ports
    /// are with the others; those on a unix socket pass.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone, partition::clients outside = partition::clients::cut_off) {
        cut(std::vector{&alone}, outside);
    }
    void heal() { servers_.heal(); }

    /// Where others find it; with TLS, its port for that.
    std::uint16_t port_of(const redis_server& one) const {
        return servers_.port_of(servers_.index_of(one));
    }
    server_group& servers() { return servers_; }

    /// How a client reaches it.
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
    std::vector<cluster_line> plan_; // as it is in the beginning
    std::string known_election_;
};

/// What a node says, of itself first.
std::vector<cluster_line> lines_of(redis_server&);

} // namespace holdfast::support
