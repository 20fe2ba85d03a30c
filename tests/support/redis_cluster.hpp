// SPDX-License-Identifier: Apache-2.0
// Redis Cluster for tests, and the descriptions of its nodes.
#pragma once

#include "support/server_group.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

// Descriptions of the nodes of a cluster: the lines of nodes.conf and of CLUSTER NODES.

struct slot_range {
    int first = 0, last = 0;
};

struct cluster_line {
    std::string id{};
    std::string address{};     ///< for example "127.0.0.1:6379@16379"
    std::string flags{};       ///< for example "myself,master"
    std::string primary = "-"; ///< id of a replica's primary; "-" for a primary
    std::uint64_t epoch = 0;
    bool is_connected = true; ///< whether the reporting node is connected to this node
    std::vector<slot_range> slots{};
    /// Slots that are being migrated or imported. A node lists them only in its line about itself.
    std::vector<int> open_slots{};

    /// Returns whether the node has this flag. "master" matches "myself,master".
    bool is(std::string_view flag) const;
    bool has(int slot) const;
    std::string text() const; ///< the line as text, without the line end
};

std::vector<cluster_line> cluster_lines(const std::string& text);

/// Divides all slots into `parts` equal ranges.
std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts);

/// Redis Cluster for tests: primaries, which share the slots, and replicas of each. To stop, pause
/// or restart a node, call the functions of its `redis_server`.
class redis_cluster {
public:
    struct options {
        std::size_t primaries = 3;
        std::size_t replicas = 1; ///< number of replicas of each primary
        duration node_timeout = std::chrono::milliseconds{500};
        std::vector<std::vector<slot_range>> slots{}; ///< slots of each primary; empty: equal parts
        bool own_clocks = false;                      ///< make `step_clock` work
        bool can_be_cut = false;                      ///< make `cut` work
        bool tls = false;       ///< use TLS between the nodes; clients use a second port
        bool keep_data = false; ///< keep the data at a `restart`
        std::string password{}; ///< password of the default user
        std::vector<std::string> arguments{};
    };

    /// Starts the cluster, and returns when it is ready, after at least two seconds.
    explicit redis_cluster(const server_binary& which = support::servers().front())
        : redis_cluster{which, options{}} {}
    redis_cluster(const server_binary&, options);

    /// Returns the node with this number. The numbers begin with the initial primaries.
    redis_server& node(std::size_t which) { return servers_[which]; }
    std::size_t size() const { return servers_.size(); }
    const std::string& id_of(const redis_server&) const;

    int slot_of(const std::string& name); ///< slot of a name, as a server calculates it

    /// Returns the running server that is the slot's primary by the latest election. Waits until
    /// there is one. For a moment, it may still reply CLUSTERDOWN.
    redis_server& primary_of(int slot);
    redis_server& node_of(const std::string& name) { return primary_of(slot_of(name)); }
    redis_server& replica_of(redis_server& primary); ///< first replica that is up
    /// Returns a primary other than this server.
    redis_server& other_primary(const redis_server&);

    enum class election {
        agreed, ///< the primary agrees, so no data are lost
        forced, ///< the other nodes vote; the primary is not asked
        none,   ///< TAKEOVER: no other node is asked
    };
    /// Makes `replica` a primary, and returns when it is one. If it was a primary within the last
    /// four seconds, this can fail because of a bug in redis 7.0.
    void failover(redis_server& replica, election = election::agreed);

    /// Moves a slot: runs the next three functions.
    void move(int slot, redis_server& to);
    void begin_move(int slot, redis_server& to);
    void move_keys(int slot, redis_server& to);
    void end_move(int slot, redis_server& to);
    void call_off_moves(); ///< ends all running moves; keys stay on their nodes

    /// Waits until all nodes that are up know each other and agree on the slots, and the replicas
    /// are in sync.
    void wait_until_agreed();

    void clear(); ///< deletes all keys with FLUSHALL
    /// Restores the usual state: all nodes run, are empty and agree, all clocks are right, and
    /// nothing is cut or being moved. Roles and slots stay as they are.
    void restore();

    /// Cuts these nodes off from all others, and by default from clients, too. Clients that use a
    /// unix socket are not affected.
    void cut(const std::vector<redis_server*>& side,
             partition::clients outside = partition::clients::cut_off) {
        servers_.cut(side, outside);
    }
    void cut(redis_server& alone, partition::clients outside = partition::clients::cut_off) {
        cut(std::vector{&alone}, outside);
    }
    void heal() { servers_.heal(); }

    /// Returns the port that other programs use. With TLS it is the TLS port.
    std::uint16_t port_of(const redis_server& one) const {
        return servers_.port_of(servers_.index_of(one));
    }
    server_group& servers() { return servers_; }

    /// Returns the options with which a client connects to this cluster.
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
    std::vector<cluster_line> plan_; // slots and roles at the start
    std::string known_election_;
};

/// Returns the node's report about all nodes. The first line is about the node itself.
std::vector<cluster_line> lines_of(redis_server&);

} // namespace holdfast::support
