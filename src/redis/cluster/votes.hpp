// SPDX-License-Identifier: Apache-2.0
// Which answers to CLUSTER SLOTS count, and whether most of them agree. No I/O.
#pragma once

#include "redis/cluster/slots_answer.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// The nodes that are known to be one cluster's: the primaries with slots, and their replicas.
struct cluster_members {
    std::set<std::string> ids;
    std::set<std::string> addresses;             ///< `host:port`
    std::map<std::string, std::size_t> owners{}; ///< `id@host:port` to the number of its slots

    bool any() const { return !addresses.empty(); }

    /// Returns whether the answer is from the same cluster: most of the slots that it names have a
    /// primary that is a member. A node that was reset into another cluster is not enough.
    bool recognize(const slot_ranges&) const;
};

/// One node's answer to CLUSTER SLOTS, with what its comparison with others needs.
struct map_vote {
    map_vote(server_address who, slot_ranges what);
    server_address from;
    slot_ranges said;
    std::set<std::string> names;     ///< of all nodes: `id@host:port`
    std::set<std::string> addresses; ///< likewise, `host:port`
    std::size_t fingerprint = 0;     ///< of the primaries and their slots
    bool knows_all_slots = false;    ///< there is a primary for each
};

/// Returns which of the answers are from the known cluster, by their places in the list. Two
/// answers that name no node in common are from two clusters; the one that names the owners of most
/// slots counts. If no members are known, most answers decide.
std::vector<std::size_t> votes_of(const cluster_members&, std::span<const map_vote> answers);

/// Returns all nodes that the answer names, each one once, the primaries first.
std::vector<server_address> nodes_in(const slot_ranges&);

/// Returns `host:port`.
std::string text_of(const server_address&);

} // namespace holdfast::redis
