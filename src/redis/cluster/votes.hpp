// SPDX-License-Identifier: Apache-2.0
// Decides which replies to CLUSTER SLOTS count, and whether most of them agree. No I/O.
#pragma once

#include "redis/cluster/slots_answer.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Nodes that are known to belong to one cluster: the primaries that own slots, and their replicas.
struct cluster_members {
    std::set<std::string> ids;
    std::set<std::string> addresses;             ///< `host:port`
    std::map<std::string, std::size_t> owners{}; ///< number of slots by `id@host:port`

    bool any() const { return !addresses.empty(); }

    /// Returns whether the reply comes from the same cluster. It does if known members are the
    /// primaries of at least half of the slots in the reply. One former member that belongs to
    /// another cluster now is therefore not enough.
    bool recognize(const slot_ranges&) const;
};

/// Reply of one node to CLUSTER SLOTS, prepared for the comparison with other replies.
struct map_vote {
    map_vote(server_address who, slot_ranges what);
    server_address from;
    slot_ranges said;
    std::set<std::string> names;     ///< all nodes of the reply, as `id@host:port`
    std::set<std::string> addresses; ///< all nodes of the reply, as `host:port`
    std::size_t fingerprint = 0;     ///< hash of the owners of all slots
    bool knows_all_slots = false;    ///< every slot has a primary
};

/// Returns the indexes of the replies that come from the known cluster. Two replies that name no
/// common node come from different clusters. If there are several clusters, only the cluster that
/// names the known owners of the most slots counts. If no members are known, the cluster with the
/// most replies counts.
std::vector<std::size_t> votes_of(const cluster_members&, std::span<const map_vote> answers);

/// Returns all nodes that the reply names, without duplicates, primaries first.
std::vector<server_address> nodes_in(const slot_ranges&);

/// Returns `host:port`.
std::string text_of(const server_address&);

} // namespace holdfast::redis
