// SPDX-License-Identifier: Apache-2.0
// Slots of a cluster: the slot of a key, redirections to other servers, replies to CLUSTER SLOTS,
// and the map of the slots' owners (`slot_map`). No function does I/O.
#pragma once

#include "redis/client/resp.hpp"

#include <holdfast/redis/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::redis {

/// Number of slots in a cluster. Each key belongs to one slot, and each slot to one primary.
inline constexpr std::size_t slot_count = 16384;

/// Returns the part of a key that the cluster hashes: the text between the first `{` and the next
/// `}`. If there is none, or if it is empty, returns the whole key.
std::string_view hashed_part(std::string_view key);

/// Returns the slot of a key, as CLUSTER KEYSLOT does.
std::uint16_t key_slot(std::string_view key);

/// Meaning of an error reply in a cluster. It says to which server the request must be sent next,
/// and whether the request was executed.
struct redirection {
    enum class kind : std::uint8_t {
        none,           ///< the error is not about the choice of the server
        moved,          ///< another server owns the slot
        ask,            ///< the slot is being migrated: ask its new server for this key
        pause,          ///< no server serves the slot now
        demoted,        ///< the server has become a replica
        not_here,       ///< a script used an undeclared key that this server does not have
        unknown_script, ///< send the script's text to the same server (EVAL)
    };
    enum class outcome : std::uint8_t { not_carried_out, carried_out, unknown };

    kind what = kind::none;
    outcome done = outcome::not_carried_out; ///< meaningless if `what` is `none`

    // Slot and target of `moved` and `ask`.
    std::uint16_t slot = 0;
    server_address to{};

    bool refresh = false;     ///< true: request a new slot map
    bool pause_first = false; ///< true: pause for 50 to 250 ms before the next attempt
    /// True: close the connections, because the server cannot serve locks.
    bool cut = false;
};

/// Interprets an error reply. `asked` is the host that replied. If a MOVED or ASK error names no
/// host, the target is at the host `asked`. Treats a malformed MOVED or ASK error as `pause`,
/// because the server did not execute the request.
redirection read_redirection(std::string_view error, std::string_view asked);

/// Range of slots, and the nodes that serve these slots, as reported by one node.
struct slot_range {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    server_address primary{}; ///< the host is empty if the node does not know the primary's address
    std::vector<server_address> replicas{};
    std::string primary_id{};               ///< empty if the server did not report it (before 4.0)
    std::vector<std::string> replica_ids{}; ///< ids of `replicas`, in the same order
};
using slot_ranges = std::vector<slot_range>;

/// Reads a reply to CLUSTER SLOTS. A node with an empty host is at the host that was asked. The
/// path of a unix socket is accepted only if the asked node itself has a path, as in tests. Throws
/// net::failure if the server refused the command or the reply is malformed.
slot_ranges read_slots(const reply&, const server_address& asked);

// Types and functions that decide which replies to CLUSTER SLOTS must be ignored, and whether most
// of the other replies agree.

/// Nodes that are known to belong to one cluster: the primaries that own slots, and their replicas.
struct cluster_members {
    std::set<std::string> ids;
    std::set<std::string> addresses;             ///< `host:port`
    std::map<std::string, std::size_t> owners{}; ///< number of slots by `id@host:port`

    bool any() const { return !addresses.empty(); }

    /// Returns whether the reply comes from this cluster: known members must be the primaries of at
    /// least half of the slots in the reply. So the reply is not accepted if it names only one
    /// member, which now belongs to another cluster.
    bool recognize(const slot_ranges&) const;
};

/// Reply of one node to CLUSTER SLOTS, prepared for comparisons with other replies.
struct map_vote {
    map_vote(server_address who, slot_ranges what);
    server_address from;
    slot_ranges said;
    std::set<std::string> names;     ///< all nodes of the reply, as `id@host:port`
    std::set<std::string> addresses; ///< all nodes of the reply, as `host:port`
    std::size_t fingerprint = 0;     ///< hash of the owners of all slots
    bool knows_all_slots = false;    ///< true: each slot has a primary
};

/// Returns the indexes of the replies that come from this client's cluster. Replies that share no
/// node come from different clusters. This client's cluster is the one whose replies give most
/// slots to the known owners. If no members are known yet, it is the cluster with the most replies.
std::vector<std::size_t> votes_of(const cluster_members&, std::span<const map_vote> answers);

/// Returns all nodes that the reply names, without duplicates, primaries first.
std::vector<server_address> nodes_in(const slot_ranges&);

/// Returns the address as text, in the form `host:port`.
std::string text_of(const server_address&);

/// Table with the primary of each slot, and with all known nodes. It lives as long as the client.
/// To update the table, the client asks several nodes at once; a slot gets another owner only if
/// most of these nodes name this owner. A MOVED redirection that arrives meanwhile is newer than
/// the replies of the nodes, so the redirection wins.
class slot_map {
public:
    /// Number of a node. It stays the same while the node serves a slot or is a seed (a node in the
    /// options). When the node is forgotten, another node may get the number. So code that stores a
    /// number must compare the address before it uses the number.
    using node_number = std::uint16_t;
    static constexpr node_number nobody = 65535;

    /// Maximum number of nodes in the map: enough for a primary and a replica for each slot.
    static constexpr std::size_t nodes_max = 2 * slot_count;

    /// Maximum number of former nodes in the map. Replies do not name a former node any more. The
    /// client asks former nodes only when no other node replies.
    static constexpr std::size_t former_max = 256;

    /// Range of adjacent slots that have moved from one owner to another.
    struct change {
        std::uint16_t first;
        std::uint16_t last;
        node_number from;
        node_number to;
        bool operator==(const change&) const = default;
    };

    /// Number of MOVED redirections that the map has recorded up to some moment. It shows which
    /// redirections came after that moment.
    using stamp = std::uint64_t;

    /// Creates a map with only the seeds (the nodes in the options), which are never forgotten.
    explicit slot_map(std::span<const server_address> seeds);

    node_number owner(std::uint16_t slot) const { return owners_[slot]; }

    /// Returns the number of nodes, including forgotten nodes. (A forgotten node keeps its place in
    /// the list of nodes, but its address has an empty host.)
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

    /// Returns the id of the node at an address, or an empty text if it is unknown.
    std::string id_at(const server_address&) const;

    /// Returns whether the reply contradicts this map: for some slot, the reply names another
    /// owner, or names no owner although the map has an owner.
    bool differs_from(const slot_ranges&) const;

    /// Returns the number of a node. Adds the node if it is new. Returns `nobody` if there are too
    /// many nodes.
    node_number know(const server_address&);

    stamp now() const { return moves_; }

    /// Records a MOVED redirection. Returns the number of the new owner.
    node_number moved(std::uint16_t slot, const server_address& to);

    /// Updates the map from the replies of several nodes, and returns the changes. `asked` is the
    /// stamp at which the nodes were asked. `voters` is the number of nodes that could have
    /// replied; at least the number of replies is used.
    ///
    /// A slot gets another owner if more than half of the voters name this owner. A slot loses its
    /// owner if more than half of the voters, and at least two, name no owner. A slot without an
    /// owner gets the owner that most replies name.
    std::vector<change> renew(std::span<const slot_ranges> answers, stamp asked,
                              std::size_t voters = 0);

private:
    using owners = std::array<node_number, slot_count>;
    struct known_node {
        server_address address{};
        std::string id{}; // from the last reply that agreed with the map
        bool is_seed = false;
        std::uint64_t named = 0; // last call of renew() that named this node
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
    // Slots for which a MOVED redirection was received. Older replies must not undo the
    // redirection.
    std::unordered_map<std::size_t, stamp> moved_at_;
};

} // namespace holdfast::redis
