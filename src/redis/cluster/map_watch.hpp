// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/map_poll.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/link/inquiries.hpp"
#include "redis/node_context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Keeps the slot map of a cluster up to date. It asks several nodes at once when the map is first
/// needed, and soon after a server reports a new owner of a slot. It also asks periodically while
/// calls, holds or listeners depend on the map.
class map_watch : public std::enable_shared_from_this<map_watch> {
public:
    using changes = std::span<const slot_map::change>;
    struct surroundings {
        /// Reports that slots have other owners now. `told_by` names the source of the news.
        std::function<void(changes, const std::string& told_by)> changed;
        /// Functions that ask nodes over open connections.
        map_poll::ways nodes;
        /// Returns whether any call, hold or listener depends on the map now.
        std::function<bool()> is_used;
        /// Closes connections that are not needed. Called after each round in which at least one
        /// reply had a vote.
        std::function<void()> tidy;
    };

    map_watch(known_context, surroundings);

    slot_map& map() { return map_; }
    const slot_map& map() const { return map_; }

    /// Returns whether all servers that replied in the first successful round support sharded
    /// pub/sub.
    bool knows_shards() const { return knows_shards_; }

    /// Waits for the next map, until `limit` at the latest. Returns at once if a map is known and
    /// `stale` is false. Throws `failure` in three cases: the client is closed, nodes refused the
    /// first question, or no map is known at `limit`.
    asio::awaitable<void> known(time_point limit, bool stale = false);

    /// Requests a new map soon. Call it when a server redirects a request or does not reply.
    void want();
    /// Records a MOVED redirection, and requests a new map soon. Ignores the redirection if the
    /// node `to` is not known to belong to this cluster.
    void moved(std::uint16_t slot, const server_address& to);

    /// Returns whether the node belongs to this cluster. Asks the node itself if no map has named
    /// it yet. The check is needed because a server may have been reset into another cluster. Such
    /// a server redirects clients to that other cluster.
    asio::awaitable<bool> belongs(server_address, time_point limit);

    /// Asks the node whether it belongs to this cluster, and then calls moved(). moved() ignores a
    /// node of another cluster.
    void moved_perhaps(std::uint16_t slot, server_address to);

    void close();

private:
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// Time after which the map of another cluster is accepted, if only seeds of that cluster
    /// reply.
    static constexpr duration strangers_wait = std::chrono::seconds{10};
    /// Time without a reply from the known cluster after which the map of another cluster is
    /// accepted at once, if this client has no holds.
    static constexpr duration forgotten_after = std::chrono::minutes{1};

    using self = std::shared_ptr<map_watch>;
    static asio::awaitable<void> watch(self);
    static asio::awaitable<void> follow(self, std::uint16_t slot, server_address to);
    asio::awaitable<void> ask();
    asio::awaitable<void> rest();
    void judge(const map_poll&, slot_map::stamp asked);
    std::vector<slot_ranges> believed_of_strangers(const map_poll&);
    bool is_vouched_for(const server_address&) const;
    bool is_ours(const inquiries::answer&) const;
    void wake_waiters();

    const known_context context_;
    const surroundings around_;
    const std::unique_ptr<alarm> wake_;
    slot_map map_;
    // Addresses of nodes that belong to this cluster, but are not in the map yet.
    std::set<std::string> vouched_;
    time_point confirmed_at_ = time_point::min();
    std::optional<time_point> strange_since_; // since when only foreign seeds reply
    bool lonely_ = false;                     // no member replied in the last round
    std::set<alarm*> waiters_;
    std::string silence_ = "no node of the cluster has answered yet";
    // Error of a node that refused the question, while no map is known.
    std::optional<net::failure> refused_;
    bool known_ = false;
    bool knows_shards_ = true;
    bool wanted_ = false;
    bool incomplete_ = false; // the last round left slots without an owner, or failed
    bool running_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
