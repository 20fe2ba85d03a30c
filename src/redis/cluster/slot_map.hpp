// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slot.hpp"
#include "redis/cluster/votes.hpp"

#include <holdfast/redis/options.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::redis {

/// Table of the primary of each slot, and of all known nodes. It lives as long as the client.
/// Several nodes are asked at once, and a slot gets another owner only if most of them name that
/// owner. A MOVED redirection that arrives during the questions is newer than the replies, so it
/// has priority.
class slot_map {
public:
    /// Number of a node. The number stays the same while the node serves a slot or is a seed. After
    /// the node is forgotten, another node may get the number. Therefore code that stores a number
    /// must compare the address before it uses the number.
    using node_number = std::uint16_t;
    static constexpr node_number nobody = 65535;

    /// Maximum number of nodes in the map. It is enough if each slot has a primary and a replica of
    /// its own.
    static constexpr std::size_t nodes_max = 2 * slot_count;

    /// Maximum number of former nodes in the map. Replies do not name these nodes any more. They
    /// are asked when no other node replies.
    static constexpr std::size_t former_max = 256;

    /// Range of adjacent slots that changed from one owner to another.
    struct change {
        std::uint16_t first;
        std::uint16_t last;
        node_number from;
        node_number to;
        bool operator==(const change&) const = default;
    };

    /// Position of a moment in the sequence of MOVED redirections: the number of redirections
    /// recorded before it.
    using stamp = std::uint64_t;

    /// Makes a map that contains only the seeds. The seeds are never forgotten.
    explicit slot_map(std::span<const server_address> seeds);

    node_number owner(std::uint16_t slot) const { return owners_[slot]; }

    /// Returns the number of node numbers in use. The address of a forgotten node has an empty
    /// host.
    std::size_t size() const { return nodes_.size(); }
    const server_address& address(node_number node) const { return nodes_[node].address; }
    std::size_t slots_of(node_number node) const { return nodes_[node].slots; }
    const std::vector<node_number>& replicas_of(node_number primary) const {
        return nodes_[primary].replicas;
    }

    /// Returns the nodes that own slots.
    std::vector<node_number> primaries() const;
    std::size_t unserved() const;

    /// Returns the primaries that own slots, and their replicas.
    cluster_members members() const;
    std::vector<server_address> member_addresses() const;
    bool is_member(const server_address&) const;

    /// Returns the id of the node at an address, or an empty text if the id is not known.
    std::string id_at(const server_address&) const;

    /// Returns whether the reply differs from this map: it names another owner for a slot, or no
    /// owner for a slot that has an owner here.
    bool differs_from(const slot_ranges&) const;

    /// Returns the number of a node, and adds the node if it is new. Returns `nobody` if there are
    /// too many nodes.
    node_number know(const server_address&);

    stamp now() const { return moves_; }

    /// Records a MOVED redirection. Returns the number of the new owner.
    node_number moved(std::uint16_t slot, const server_address& to);

    /// Updates the map from the replies of several nodes, and returns the changes. `asked` is the
    /// stamp at which the nodes were asked. `voters` is the number of nodes that could have
    /// replied; it counts as at least the number of replies.
    ///
    /// A slot gets another owner if more than half of the voters name that owner. A slot loses its
    /// owner if more than half of the voters, and at least two, name no owner. A slot without an
    /// owner gets the owner that most replies name.
    std::vector<change> renew(std::span<const slot_ranges> answers, stamp asked,
                              std::size_t voters = 0);

private:
    using owners = std::array<node_number, slot_count>;
    struct known_node {
        server_address address{};
        std::string id{}; // from the last reply that agreed with the map; empty if unknown
        bool is_seed = false;
        std::uint64_t named = 0; // number of the last call of renew() that named this node
        std::size_t slots = 0;
        std::vector<node_number> replicas{};
    };

    node_number number_for(const server_address&);
    void forget_former();
    std::vector<node_number> member_numbers() const;
    owners named_in(const slot_ranges&);
    node_number elect(std::size_t slot, std::span<const owners> votes, std::size_t voters) const;
    static bool is_as_the_last(std::size_t slot, std::span<const owners> votes,
                               const owners& before);
    void give(std::size_t slot, node_number to);
    void learn_nodes(const slot_ranges&);
    std::vector<change> since(const owners& before) const;

    owners owners_;
    std::vector<known_node> nodes_;
    std::unordered_map<std::string, node_number> numbers_; // node numbers by address
    std::vector<node_number> free_;                        // numbers of forgotten nodes
    std::uint64_t renewals_ = 0;
    stamp moves_ = 0;
    // Slots with a MOVED redirection. Older replies must not undo it.
    std::unordered_map<std::size_t, stamp> moved_at_;
};

} // namespace holdfast::redis
