// SPDX-License-Identifier: Apache-2.0
// Keeps the map of a cluster's slots up to date. `map_poll` is one round of questions to the nodes.
// `map_watch` decides when to ask.
#pragma once

#include "redis/node_context.hpp"
#include "redis/topology/inquiries.hpp"
#include "redis/topology/slot_map.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// One round of questions to the nodes of a cluster about the owners of all slots.
///
/// The round first asks a few members. It asks more members if replies are missing or differ from
/// the known map. The round is over when most of the reachable members agree. A reply from another
/// cluster, which may use the address of a former node, does not count.
///
/// At the start of a client, the round also waits until more than half of the asked seeds belong to
/// one cluster, or until `connect_timeout` ends. Otherwise the seed that replies first would decide
/// to which cluster the client belongs.
class map_poll {
public:
    /// How to ask a node over a connection that is already open.
    struct ways {
        std::function<bool(const server_address&)> is_connected;
        std::function<asio::awaitable<reply>(server_address)> ask;
    };
    struct plan {
        bool urgent = false; ///< true: asks up to `many` nodes at once, instead of `few`
        /// True if no member replied in the last round of questions. The next round then also goes
        /// to the seeds (nodes in the options) and to the former nodes.
        bool lonely = false;
        /// True if most seeds (nodes in the options) have not confirmed the map yet. The round of
        /// questions then also goes to all seeds.
        bool is_start = false;
        std::vector<server_address> seeds;
    };

    map_poll(known_context, const ways&, const slot_map&, plan, alarm& wake);
    ~map_poll() { round_->end(); }
    map_poll(const map_poll&) = delete;

    /// Asks the nodes, and waits until the round is over or `closed` returns true.
    asio::awaitable<void> run(std::function<bool()> closed);

    /// Returns the slot maps of the replies that count.
    const std::vector<slot_ranges>& maps() const { return ours_; }
    /// Returns the number of members whose replies may count. Until the round times out, this
    /// number includes members that have not replied. The number is never less than the size of
    /// `maps()`.
    std::size_t voters() const;
    /// Returns whether only one reply came in time, this reply contradicts the known map, and a
    /// known owner of slots did not reply. The node that replied may be out of date, and the owner
    /// that did not reply may only be slow.
    bool is_lone_contradiction() const;
    /// Returns whether all servers that replied have sharded pub/sub. Ignores replies from another
    /// cluster.
    bool all_know_shards() const { return all_know_shards_; }

    /// Returns whether more than half of the seeds (nodes in the options) have sent a reply that
    /// comes from this cluster.
    bool is_confirmed_by_seeds() const { return 2 * seeds_in_vote_.size() > plan_.seeds.size(); }

    /// Returns the slot maps of seeds (nodes in the options) that belong to another cluster. The
    /// result is empty unless more than half of all seeds belong to that other cluster. If more
    /// than half do, a new cluster was set up at the addresses of the old one.
    std::vector<slot_ranges> maps_of_strange_seeds() const;

    std::string troubles() const; ///< why nodes did not reply, for messages
    const std::optional<net::failure>& refused() const { return refused_; }

private:
    static constexpr std::size_t few = 3;
    static constexpr std::size_t many = 16;
    static constexpr std::size_t most = 128;
    /// Longest wait for enough replies. After this time, more nodes are asked.
    static constexpr duration step{300};

    void queue_members();
    void queue_others();
    void queue(std::vector<server_address>, bool first = false);
    void shuffle(std::vector<server_address>&);
    void ask_up_to(std::size_t count);
    void ask_more(time_point& next_step);
    void ask_one(const server_address&);
    void take_in();
    void judge();
    bool is_over() const;
    bool waits_for_seeds() const;
    std::vector<slot_ranges> maps_of_largest_cluster_of_seeds() const;
    bool is_disputed() const;
    bool may_ask_more() const { return !queue_.empty() && asked_.size() < most; }
    std::size_t pending_members() const;
    time_point now() const { return context_->home.time.now(); }

    const known_context context_;
    const ways& ways_;
    const slot_map& map_;
    const plan plan_;
    alarm& wake_;
    const cluster_members known_;
    const std::set<std::string> owners_; // addresses of the known primaries that own slots
    const std::shared_ptr<inquiries> round_;
    const time_point began_;
    time_point limit_{};
    std::deque<server_address> queue_; // nodes that must still be asked
    std::set<std::string> queued_;     // all nodes that have ever been in `queue_`
    std::set<std::string> asked_;
    std::set<std::string> told_;    // nodes that have replied or failed
    std::set<std::string> members_; // known members, and nodes in replies that count
    std::size_t answers_taken_ = 0, failures_taken_ = 0;
    bool others_queued_ = false;
    bool timed_out_ = false; // true: nodes without a reply are treated as unreachable
    std::vector<map_vote> votes_;
    std::vector<bool> votes_know_shards_;
    std::vector<slot_ranges> ours_;
    std::set<std::string> seeds_in_vote_; // seeds whose replies are in `ours_`
    std::size_t agreeing_ = 0;            // size of the largest group of equal replies in `ours_`
    bool ours_are_whole_ = false;         // true: that group's map has an owner for each slot
    bool differs_ = false;                // true: a reply in `ours_` differs from the known map
    bool all_know_shards_ = true;
    std::string troubles_;
    std::optional<net::failure> refused_;
};

/// Keeps the slot map of a cluster up to date. It asks several nodes at once when the map is first
/// needed, and soon after a server reports a new owner of a slot. While calls, holds or listeners
/// depend on the map, it also asks periodically.
class map_watch : public std::enable_shared_from_this<map_watch> {
public:
    using changes = std::span<const slot_map::change>;
    struct callbacks {
        /// Reports that slots have other owners now. `told_by` names the source of the new map.
        std::function<void(changes, const std::string& told_by)> changed;
        /// How to ask nodes over open connections.
        map_poll::ways nodes;
        /// Returns whether any call, hold or listener depends on the map now.
        std::function<bool()> is_used;
        /// Closes connections that are not needed. Called after each round of questions that got a
        /// reply from this cluster.
        std::function<void()> tidy;
    };

    map_watch(known_context, callbacks);

    slot_map& map() { return map_; }
    const slot_map& map() const { return map_; }

    /// Returns whether all servers that replied in the first successful round have sharded pub/sub.
    bool knows_shards() const { return knows_shards_; }

    /// Waits until the next slot map is known, or until `limit`. Returns at once if a map is known
    /// and `stale` is false. Throws `failure` if the client is closed, or if no map is known at
    /// `limit`. While no map is known, also throws if a node refuses to answer.
    asio::awaitable<void> known(time_point limit, bool stale = false);

    /// Requests a new slot map soon. Call this function if a server redirects a request or does not
    /// reply.
    void want();
    /// Records a MOVED redirection, and requests a new map soon. Ignores the redirection if the
    /// node `to` is not known to belong to this cluster.
    void moved(std::uint16_t slot, const server_address& to);

    /// Returns whether the node belongs to this cluster. If no map has named the node yet, asks the
    /// node itself. A server that was moved to another cluster redirects clients to nodes of that
    /// cluster.
    asio::awaitable<bool> belongs(server_address, time_point limit);

    /// Asks the node `to` whether it belongs to this cluster, and then calls moved(), which ignores
    /// a node of another cluster.
    void moved_perhaps(std::uint16_t slot, server_address to);

    void close();

private:
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// The map of another cluster is used if, for this time, the only seeds (nodes in the options)
    /// that replied belong to that cluster.
    static constexpr duration strangers_wait = std::chrono::seconds{10};
    /// For this time after the first map, the client repeats its questions to the seeds (nodes in
    /// the options), until most seeds have confirmed the map. While slots have no owner, the client
    /// repeats the questions for longer.
    static constexpr duration start_lasts = std::chrono::minutes{1};
    /// Time between two rounds of these questions.
    static constexpr duration start_period = std::chrono::seconds{1};
    /// If only one member replies in time, its reply changes the map only after this time. Until
    /// then, the other members are asked again.
    static constexpr duration alone_wait = std::chrono::seconds{4};
    /// If the known cluster has not replied for this time, and this client has no holds, the client
    /// uses the map of another cluster at once.
    static constexpr duration forgotten_after = std::chrono::minutes{1};

    using self = std::shared_ptr<map_watch>;
    static asio::awaitable<void> watch(self);
    static asio::awaitable<void> follow(self, std::uint16_t slot, server_address to);
    asio::awaitable<void> ask();
    asio::awaitable<void> rest();
    void judge(const map_poll&, slot_map::stamp asked);
    std::vector<slot_ranges> believed_of_strangers(const map_poll&);
    bool contradicts_alone(const map_poll&);
    bool is_start() const;
    bool is_vouched_for(const server_address&) const;
    bool is_ours(const inquiries::answer&) const;
    void wake_waiters();

    const known_context context_;
    const callbacks around_;
    const std::unique_ptr<alarm> wake_;
    slot_map map_;
    // Addresses of nodes that are known to belong to this cluster, although the map does not
    // contain them yet.
    std::set<std::string> vouched_;
    time_point confirmed_at_ = time_point::min();
    // From this time on, all seeds (nodes in the options) that replied have belonged to another
    // cluster.
    std::optional<time_point> strange_since_;
    // From this time on, only one member has replied, and its reply contradicts the map.
    std::optional<time_point> alone_since_;
    bool lonely_ = false; // true: no member replied in the last round
    std::set<alarm*> waiters_;
    std::string silence_ = "no node of the cluster has answered yet";
    // Error of a node that refused to answer while no map was known.
    std::optional<net::failure> refused_;
    bool known_ = false;
    time_point known_since_{};
    bool confirmed_ = false; // true: most seeds have confirmed the cluster of the map
    bool knows_shards_ = true;
    bool wanted_ = false;
    bool incomplete_ = false; // true: the last round failed, or left slots without an owner
    bool running_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
