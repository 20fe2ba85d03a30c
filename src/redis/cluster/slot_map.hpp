// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slot.hpp"
#include "redis/cluster/slots_answer.hpp"

#include <holdfast/redis/options.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace holdfast::redis {

/// Which primary serves which slot, and all nodes that are known, for as long as a client lives.
/// Three nodes are asked at once, and for each slot the one counts that most of them name; but a
/// node that answers MOVED meanwhile knows better.
class slot_map {
public:
    /// A node has the same number for as long as it serves a slot or is a seed. The number of one
    /// that is forgotten goes to another: whoever keeps something by number compares the address.
    using node_number = std::uint8_t;
    static constexpr node_number nobody = 255;
    static constexpr std::size_t nodes_max = nobody;

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

    /// All that are known, by their numbers.
    std::size_t size() const { return nodes_.size(); }
    const server_address& address(node_number node) const { return nodes_[node].address; }
    std::size_t slots_of(node_number node) const { return nodes_[node].slots; }
    const std::vector<node_number>& replicas_of(node_number primary) const {
        return nodes_[primary].replicas;
    }

    /// Those with slots.
    std::vector<node_number> primaries() const;
    std::size_t unserved() const;

    /// The number of that node, and a new one if it was not known; `nobody` if too many are.
    node_number know(const server_address&);

    stamp now() const { return moves_; }

    /// What MOVED says. Returns the new owner's number.
    node_number moved(std::uint16_t slot, const server_address& to);

    /// What some nodes answered that were asked at that moment. A slot of which none of them names
    /// the owner has none. Without an answer all stays as it was.
    std::vector<change> renew(std::span<const slot_ranges> answers, stamp asked);

private:
    using owners = std::array<node_number, slot_count>;
    struct known_node {
        server_address address{};
        bool is_seed = false;
        std::uint64_t named = 0; // in which renewal the last time
        std::size_t slots = 0;
        std::vector<node_number> replicas{};
    };

    node_number number_for(const server_address&);
    node_number forget_one();
    owners named_in(const slot_ranges&);
    node_number elect(std::size_t slot, std::span<const owners> votes) const;
    static bool is_as_the_last(std::size_t slot, std::span<const owners> votes,
                               const owners& before);
    void give(std::size_t slot, node_number to);
    void learn_replicas(const slot_ranges&);
    std::vector<change> since(const owners& before) const;

    owners owners_;
    std::vector<known_node> nodes_;
    std::uint64_t renewals_ = 0;
    stamp moves_ = 0;
    std::unordered_map<std::size_t, stamp> moved_at_; // which of them an answer must not undo
};

} // namespace holdfast::redis
