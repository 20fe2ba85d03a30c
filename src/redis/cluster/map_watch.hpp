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

/// Knows which server of a cluster has which slots. Several nodes are asked at once: when the map
/// is first needed, soon after a server says that it is otherwise, and now and then while calls,
/// holds or listeners depend on it.
class map_watch : public std::enable_shared_from_this<map_watch> {
public:
    using changes = std::span<const slot_map::change>;
    struct surroundings {
        /// Slots have other servers now, `told_by` whom.
        std::function<void(changes, const std::string& told_by)> changed;
        /// How nodes are asked over connections that there are anyway.
        map_poll::ways nodes;
        /// Whether anybody depends on it at the moment.
        std::function<bool()> is_used;
        /// Is called now and then.
        std::function<void()> tidy;
    };

    map_watch(known_context, surroundings);

    slot_map& map() { return map_; }
    const slot_map& map() const { return map_; }

    /// Whether all servers that told know sharded messages.
    bool knows_shards() const { return knows_shards_; }

    /// Returns at the next answer, at `limit` at the latest; at once if the map is known and
    /// `stale` is false. Throws `failure` if nothing is known by then.
    asio::awaitable<void> known(time_point limit, bool stale = false);

    /// A server said that it is otherwise, or does not answer.
    void want();
    void moved(std::uint16_t slot, const server_address& to);

    /// Returns whether that node is of this cluster, which it is asked if no map has named it yet.
    /// A server that was reset into another cluster sends its clients there.
    asio::awaitable<bool> belongs(server_address, time_point limit);

    /// Does the same as moved(), when it has found out whether that node is of this cluster.
    void moved_perhaps(std::uint16_t slot, server_address to);

    void close();

private:
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// If only seeds answer, and they are of another cluster, they are believed after this time.
    static constexpr duration strangers_wait = std::chrono::seconds{10};
    /// A client without holds believes them at once, if no node of the known cluster has answered
    /// for this time.
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
    std::set<std::string> vouched_; // nodes that are of this cluster, but not in the map yet
    time_point confirmed_at_ = time_point::min();
    std::optional<time_point> strange_since_; // seeds alone answer, and are of another cluster
    bool lonely_ = false;                     // no member answered the last time
    std::set<alarm*> waiters_;
    std::string silence_ = "no node of the cluster has answered yet";
    std::optional<net::failure> refused_; // by all that answered
    bool known_ = false;
    bool knows_shards_ = true;
    bool wanted_ = false;
    bool incomplete_ = false; // the last answers
    bool running_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
