// SPDX-License-Identifier: Apache-2.0
// Client of a whole cluster (`cluster_node`), and its subscriptions, which follow their slots
// (`slot_subscription`).
#pragma once

#include "redis/client/requests.hpp"
#include "redis/client/server_connections.hpp"
#include "redis/node.hpp"
#include "redis/topology/map_watch.hpp"
#include "redis/topology/slot_map.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Subscription that follows its slot: when another server becomes the owner of the slot, the
/// subscription moves to that server.
class slot_subscription final : public hearing {
public:
    slot_subscription(channel_name, alarm& wake, linger);
    slot_subscription(const slot_subscription&) = delete;

    /// Waits until the server confirms the subscription; see hearing::confirmed(). If the
    /// subscription moves meanwhile, waits for the new server's confirmation.
    asio::awaitable<bool> confirmed(time_point limit) override;
    std::string_view last_message() const override {
        return here_ ? here_->last_message() : std::string_view{};
    }

    /// Moves the subscription to `server`. `there` is the new subscription at that server.
    void settle_at(std::weak_ptr<const void> server, std::unique_ptr<hearing> there);
    bool listens() const { return here_ != nullptr; }
    bool listens_at(const std::shared_ptr<const void>& server) const {
        return here_ && server && at_.lock() == server;
    }

    /// Returns whether the subscription may move now. If so, makes the pause before the next move
    /// longer. Without these pauses, two servers that redirect to each other would move the
    /// subscription for ever.
    bool may_move(time_point now);

    const channel_name channel;
    alarm& wake;
    const linger afterwards;
    const std::uint16_t slot;

    using list_hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
    list_hook hook;

private:
    static constexpr duration pause_min{20};
    static constexpr duration pause_max{250};
    static constexpr duration calm = std::chrono::seconds{1};

    std::unique_ptr<hearing> here_; // null: the slot's server is unknown
    std::weak_ptr<const void> at_{};
    time_point not_before_ = time_point::min(); // earliest time of the next move
    duration pause_{};
    // Former subscriptions, which are kept while confirmed() waits for them.
    std::vector<std::unique_ptr<hearing>> left_;
    bool is_awaited_ = false;
};

using roamers = boost::intrusive::list<
    slot_subscription,
    boost::intrusive::member_hook<slot_subscription, slot_subscription::list_hook,
                                  &slot_subscription::hook>,
    boost::intrusive::constant_time_size<false>>;

class topology_inspector;

/// Client of a whole cluster. It sends each request to the server that owns its keys' slot, and
/// follows MOVED and ASK redirections.
class cluster_node final : public node {
public:
    explicit cluster_node(std::shared_ptr<node_context>);
    cluster_node(const cluster_node&) = delete;
    ~cluster_node() override { close(); }

    asio::awaitable<reply> call(const script&, std::span<const std::string_view> keys,
                                std::span<const argument>, call_options) override;
    asio::awaitable<reply> call_at(shard, const script&, std::span<const argument>,
                                   call_options) override;
    bool is_sharded() const noexcept override { return true; }
    asio::awaitable<std::vector<shard>> shards(bool anew) override;
    shard shard_of(std::string_view key) const override { return map().owner(key_slot(key)); }
    std::uint16_t slot_of(std::string_view key) const override { return key_slot(key); }
    void distrust(const reply&) noexcept override;
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger) override;
    bool hears(const channel_name&) const override;
    publishing telling_commands() const noexcept override { return publishing_in(form()); }
    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    duration fair_wait() const noexcept override { return context_->how.fair_wait; }
    bool direct_hand_off() const noexcept override { return context_->how.direct_hand_off; }
    bool has_unseen_listeners() const noexcept override { return form() != telling::sharded; }
    redisson_form redisson() const noexcept override { return context_->how.redisson; }
    duration usual_outage() const noexcept override;
    server_identity identity(std::string_view key) const override;
    asio::awaitable<topology_report> survey() override;
    void close() noexcept override;

private:
    /// Maximum number of redirections and retries of one call. A call that needs more is probably
    /// redirected in a circle.
    static constexpr int hops_max = 16;
    /// Idle time after which the connections to a server without slots are closed.
    static constexpr duration unused_max = std::chrono::seconds{10};
    /// If slots move between the same two servers within this time, they belong to the same change,
    /// which is reported only once.
    static constexpr duration one_change_max = std::chrono::seconds{5};

    struct cluster_server; // connections to one server
    using shared_server = std::shared_ptr<cluster_server>;
    using node_number = slot_map::node_number;

    const slot_map& map() const { return watch_->map(); }
    telling form() const noexcept;
    map_watch::callbacks callbacks();
    static asio::awaitable<reply> ask_for_map(shared_server);
    shared_server server_of(node_number);
    shared_server known_server_of(node_number) const;
    shared_server server_at(const server_address&);
    asio::awaitable<shared_server> find_server(std::uint16_t slot, time_point limit);
    void changed(map_watch::changes, const std::string& told_by);
    bool is_news(const slot_map::change&);
    void revalidate(map_watch::changes);
    void retire(node_number, const std::string& told_by);
    void tidy();
    void place(slot_subscription&, bool late);
    void place_anew();
    bool is_used() const;

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<pauses> pauses_ = std::make_shared<pauses>();
    const std::shared_ptr<map_watch> watch_;
    const std::shared_ptr<topology_inspector> topology_inspector_;
    // Connections to each node, by node number. Null if the node was never used, or is no longer
    // used.
    std::vector<shared_server> servers_;
    // Changes of owners that were reported lately: the addresses of the old and the new owner, and
    // the time of the report.
    std::map<std::pair<std::string, std::string>, time_point> reported_;
    roamers listeners_;
    std::size_t calls_ = 0; // number of running calls
    bool closed_ = false;
};

} // namespace holdfast::redis
