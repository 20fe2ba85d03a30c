// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Knows which server of a cluster has which slots. Three nodes are asked at once: when somebody
/// first wants to know, soon after a server says that it is otherwise, and now and then while
/// somebody depends on it.
class map_watch : public std::enable_shared_from_this<map_watch> {
public:
    using changes = std::span<const slot_map::change>;
    struct surroundings {
        /// Slots have other servers now, `told_by` whom.
        std::function<void(changes, const std::string& told_by)> changed;
        /// Whether there is a connection to that node anyway, and CLUSTER SLOTS over it.
        std::function<bool(const server_address&)> is_connected;
        std::function<asio::awaitable<reply>(server_address)> ask;
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

    void close();

private:
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    static constexpr duration settles_in{300};
    static constexpr std::size_t asked_at_once = 3;

    using self = std::shared_ptr<map_watch>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> ask();
    asio::awaitable<void> rest();
    std::vector<server_address> some_nodes();
    void judge(const inquiries&, slot_map::stamp asked);
    void wake_waiters();

    const known_context context_;
    const surroundings around_;
    const std::unique_ptr<alarm> wake_;
    slot_map map_;
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
