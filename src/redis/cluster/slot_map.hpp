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

/// Which primary serves which slot, and all nodes that are known, for as long as a client lives.
/// Several nodes are asked at once. A slot gets another owner only if most of them name it; but a
/// node that answers MOVED meanwhile knows better.
class slot_map {
public:
    /// A node has the same number for as long as it serves a slot or is a seed. The number of a
    /// node that is forgotten goes to another: compare the address of what you keep by number.
    using node_number = std::uint16_t;
    static constexpr node_number nobody = 65535;

    /// Each slot may have a primary and a replica of its own.
    static constexpr std::size_t nodes_max = 2 * slot_count;

    /// Nodes that no answer names any more are remembered up to this number. They are asked when
    /// no other node answers.
    static constexpr std::size_t former_max = 256;

    /// Slots next to each other that went from one to another.
    struct change {
        std::uint16_t first;
        std::uint16_t last;
        node_number from;
        node_number to;
        bool operator==(const change&) const = default;
    };

    /// How many answers MOVED were noted before this moment.
    using stamp = std::uint64_t;

    /// The seeds are never forgotten.
    explicit slot_map(std::span<const server_address> seeds);

    node_number owner(std::uint16_t slot) const { return owners_[slot]; }

    /// All that are known, by their numbers. The address of a forgotten node has no host.
    std::size_t size() const { return nodes_.size(); }
    const server_address& address(node_number node) const { return nodes_[node].address; }
    std::size_t slots_of(node_number node) const { return nodes_[node].slots; }
    const std::vector<node_number>& replicas_of(node_number primary) const {
        return nodes_[primary].replicas;
    }

    /// Those with slots.
    std::vector<node_number> primaries() const;
    std::size_t unserved() const;

    /// Returns the primaries with slots, and their replicas.
    cluster_members members() const;
    std::vector<server_address> member_addresses() const;
    bool is_member(const server_address&) const;

    /// Returns the id of the node at that address; an empty text: it is not known.
    std::string id_at(const server_address&) const;

    /// Returns whether the answer names another owner than this map for any slot.
    bool differs_from(const slot_ranges&) const;

    /// The number of that node, and a new one if it was not known; `nobody` if too many are.
    node_number know(const server_address&);

    stamp now() const { return moves_; }

    /// What MOVED says. Returns the new owner's number.
    node_number moved(std::uint16_t slot, const server_address& to);

    /// Takes what some nodes answered that were asked at that moment; `voters`: how many answers
    /// there could be, at least as many as there are. A slot goes to another owner if more than
    /// half of the voters name it, and to nobody if they name nobody and are two at least. A slot
    /// without an owner gets the one that most answers name.
    std::vector<change> renew(std::span<const slot_ranges> answers, stamp asked,
                              std::size_t voters = 0);

private:
    using owners = std::array<node_number, slot_count>;
    struct known_node {
        server_address address{};
        std::string id{}; // as the last answer that was believed said; empty: not told
        bool is_seed = false;
        std::uint64_t named = 0; // in which renewal the last time
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
    std::unordered_map<std::string, node_number> numbers_; // by address
    std::vector<node_number> free_;                        // of forgotten nodes
    std::uint64_t renewals_ = 0;
    stamp moves_ = 0;
    std::unordered_map<std::size_t, stamp> moved_at_; // which of them an answer must not undo
};

} // namespace holdfast::redis
