// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/cluster_node.hpp"

#include "net/deadlines.hpp"
#include "redis/node_context.hpp"
#include "redis/topology/survey.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <bitset>
#include <optional>
#include <set>
#include <utility>

namespace holdfast::redis {

/// Connections to one server of the cluster, and the time of the last request to this server.
struct cluster_node::cluster_server {
    cluster_server(const server_address& where, std::shared_ptr<node_context> known)
        : address{where}
        , context{std::move(known)}
        , server{context} {}
    const server_address address;
    const std::shared_ptr<node_context> context;
    server_connections server;
    time_point used_at{};
};

namespace {

class counted {
public:
    explicit counted(std::size_t& all)
        : all_{all} {
        ++all_;
    }
    counted(const counted&) = delete;
    ~counted() { --all_; }

private:
    std::size_t& all_;
};

options of_one(options all, const server_address& where) {
    all.host = where.host;
    all.port = where.port;
    return all;
}

net::failure not_served(std::uint16_t slot) {
    return {store_errc::cluster_down,
            "no server of the cluster has the slot " + std::to_string(slot) + " of that name"};
}

} // namespace

cluster_node::cluster_node(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , watch_{std::make_shared<map_watch>(context_, callbacks())}
    , topology_inspector_{std::make_shared<topology_inspector>(context_)} {}

map_watch::callbacks cluster_node::callbacks() {
    return {.changed = [this](map_watch::changes all,
                              const std::string& told_by) { changed(all, told_by); },
            .nodes = {.is_connected =
                          [this](const server_address& whom) {
                              return std::ranges::any_of(servers_, [&](const shared_server& each) {
                                  return each && each->address == whom && each->server.connected();
                              });
                          },
                      .ask = [this](server_address whom) { return ask_for_map(server_at(whom)); }},
            .is_used = [this] { return is_used(); },
            .tidy = [this] { tidy(); }};
}

asio::awaitable<reply> cluster_node::ask_for_map(shared_server whom) {
    const std::string_view words[] = {"CLUSTER", "SLOTS"};
    co_return co_await whom->server.command(words);
}

telling cluster_node::form() const noexcept {
    switch (context_->how.pubsub) {
    case pubsub_form::plain:
        return telling::plain;
    case pubsub_form::sharded:
        return telling::sharded;
    case pubsub_form::both:
        return telling::both;
    case pubsub_form::automatic:
        break;
    }
    return watch_->knows_shards() ? telling::sharded : telling::plain;
}

bool cluster_node::is_used() const {
    const auto& holds_any = context_->home.holds_any;
    return calls_ > 0 || !listeners_.empty() || (holds_any && holds_any());
}

asio::awaitable<reply> cluster_node::call(const script& what,
                                          std::span<const std::string_view> keys,
                                          std::span<const argument> arguments,
                                          call_options options) {
    const counted one{calls_};
    // Keeps the context alive while the call pauses.
    const std::shared_ptr<node_context> known = context_;
    const std::shared_ptr<map_watch> watch = watch_; // also keeps the map alive
    retry_loop trail{known->home, pauses_, known->how.command_timeout, options, arguments};
    const std::uint16_t slot = keys.empty() ? std::uint16_t{0} : key_slot(keys.front());
    std::optional<server_address> sent_to; // target of an ASK redirection
    for (int hops = 0;; ++hops) {
        shared_server at = sent_to ? server_at(*sent_to) : known_server_of(map().owner(slot));
        if (!at)
            at = co_await find_server(slot, trail.limit());
        at->used_at = trail.began();
        options.asking = std::exchange(sent_to, std::nullopt).has_value();
        std::optional<net::failure> why;
        try {
            reply said = co_await at->server.call(what, keys, arguments, options);
            said.moves = options.asking;
            co_return said;
        } catch (const net::failure& e) {
            why = e;
        }
        const redirection told = read_redirection(why->text(), at->address.host);
        if (told.what == redirection::kind::not_here)
            throw net::failure{errc::outcome_unknown, why->text()};
        const bool is_news =
            told.refresh ||
            (told.what != redirection::kind::ask &&
             (why->code() == errc::unreachable || why->code() == errc::outcome_unknown));
        if (is_news)
            watch_->want();
        bool is_sent_on = false;
        if (told.what == redirection::kind::moved || told.what == redirection::kind::ask)
            is_sent_on = co_await watch->belongs(told.to, trail.limit());
        if (told.what == redirection::kind::moved)
            watch_->moved(told.slot, told.to);
        else if (is_sent_on)
            sent_to = told.to;
        const bool are_apart =
            told.what == redirection::kind::pause && why->code() == store_errc::try_again;
        if (hops == hops_max || (are_apart && options.divisible && keys.size() > 1))
            throw net::failure{*why};
        // Pause before each retry. The first redirection is followed without a pause. Later
        // redirections need a pause, because two servers may redirect to each other for a while.
        if (!is_sent_on || hops > 1)
            co_await trail.rest(*why);
    }
}

asio::awaitable<cluster_node::shared_server> cluster_node::find_server(std::uint16_t slot,
                                                                       time_point limit) {
    for (bool stale = false;; stale = true) {
        co_await watch_->known(limit, stale);
        if (const node_number owner = map().owner(slot); owner != slot_map::nobody)
            co_return server_of(owner);
        if (context_->home.time.now() >= limit)
            throw not_served(slot);
    }
}

asio::awaitable<reply> cluster_node::call_at(shard where, const script& what,
                                             std::span<const argument> arguments,
                                             call_options options) {
    const counted one{calls_};
    if (where >= map().size() || map().address(where).host.empty())
        throw net::failure{errc::unreachable, "that server has left the cluster"};
    const shared_server at = server_of(where);
    at->used_at = context_->home.time.now();
    co_return co_await at->server.call(what, {}, arguments, options);
}

asio::awaitable<std::vector<shard>> cluster_node::shards(bool anew) {
    co_await watch_->known(net::later(context_->home.time.now(), context_->how.command_timeout),
                           anew);
    co_return map().primaries();
}

cluster_node::shared_server cluster_node::known_server_of(node_number which) const {
    if (which >= servers_.size() || !servers_[which] ||
        servers_[which]->address != map().address(which))
        return nullptr;
    return servers_[which];
}

cluster_node::shared_server cluster_node::server_of(node_number which) {
    if (shared_server there = known_server_of(which))
        return there;
    if (servers_.size() <= which)
        servers_.resize(which + std::size_t{1});
    const server_address where = map().address(which);
    if (servers_[which])
        retire(which, "the new map of the cluster");
    const auto known = std::make_shared<node_context>(of_one(context_->how, where), context_->home);
    known->form = form();
    const std::weak_ptr<map_watch> watch = watch_;
    known->in_trouble = while_alive(watch_, &map_watch::want);
    known->node_id = [watch, where] {
        const auto here = watch.lock();
        return here ? here->map().id_at(where) : std::string{};
    };
    // Handling a redirection may move listeners away from the subscriber that reports it. So handle
    // it later, outside this subscriber.
    known->redirected = [watch, where, &home = context_->home](const std::string& words) {
        asio::post(home.executor, [watch, where, words] {
            const redirection told = read_redirection(words, where.host);
            const auto here = watch.lock();
            if (here && told.what == redirection::kind::moved)
                here->moved_perhaps(told.slot, told.to);
        });
    };
    known->revalidate = [watch, where, &home = context_->home](bool urgent) {
        const auto is_there = [watch, where](const lock_name& name) {
            const auto here = watch.lock();
            if (!here)
                return false;
            const node_number owner = here->map().owner(key_slot(name.text));
            return owner != slot_map::nobody && here->map().address(owner) == where;
        };
        if (home.revalidate)
            home.revalidate(is_there, urgent);
    };
    auto made = std::make_shared<cluster_server>(where, known);
    made->used_at = context_->home.time.now();
    if (closed_)
        made->server.close();
    servers_[which] = made;
    return made;
}

/// Returns the connections to the server at an address. Adds the server to the slot map if it is
/// not there yet.
cluster_node::shared_server cluster_node::server_at(const server_address& where) {
    const node_number number = watch_->map().know(where);
    if (number == slot_map::nobody)
        throw net::failure{errc::overloaded, "the cluster has too many nodes"};
    return server_of(number);
}

void cluster_node::distrust(const reply& said) noexcept {
    for (const shared_server& each : servers_)
        if (each)
            each->server.distrust(said);
}

std::unique_ptr<hearing> cluster_node::hear(channel_name name, alarm& wake, linger how) {
    auto made = std::make_unique<slot_subscription>(std::move(name), wake, how);
    listeners_.push_back(*made);
    place(*made, false);
    return made;
}

bool cluster_node::hears(const channel_name& name) const {
    const shared_server there = known_server_of(map().owner(key_slot(name.text)));
    return there && there->server.hears(name);
}

/// Subscribes a listener at the server that owns its channel's slot. If the owner is unknown, the
/// listener stays at its old server, and a new slot map is requested.
void cluster_node::place(slot_subscription& who, bool late) {
    const node_number owner = map().owner(who.slot);
    if (closed_)
        return;
    if (owner == slot_map::nobody)
        return watch_->want();
    const shared_server there = server_of(owner);
    if (who.listens_at(there))
        return;
    if (who.listens() && !who.may_move(context_->home.time.now()))
        return; // place_anew() runs after the next reply about the slot map
    who.settle_at(there, there->server.hear(who.channel, who.wake, who.afterwards, late));
}

/// Moves each subscription to the server that owns its slot now, unless it is at this server
/// already. Also moves subscriptions that place() did not move because they had moved shortly
/// before.
void cluster_node::place_anew() {
    for (slot_subscription& each : listeners_) {
        const node_number owner = map().owner(each.slot);
        if (owner != slot_map::nobody && !each.listens_at(known_server_of(owner)))
            place(each, true);
    }
}

void cluster_node::changed(map_watch::changes all, const std::string& told_by) {
    if (closed_)
        return;
    std::bitset<slot_count> slots;
    std::set<node_number> from, to;
    for (const slot_map::change& one : all) {
        for (std::size_t slot = one.first; slot <= one.last; ++slot)
            slots.set(slot);
        if (one.from == slot_map::nobody)
            continue;
        from.insert(one.from);
        if (one.to != slot_map::nobody && is_news(one))
            to.insert(one.to);
    }
    for (slot_subscription& each : listeners_)
        if (slots[each.slot] || !each.listens())
            place(each, true);
    for (const node_number each : from)
        if (map().slots_of(each) == 0)
            retire(each, told_by);
    for (const node_number each : to)
        tell_moved(context_->home, net::address_of(map().address(each)), told_by);
    revalidate(all);
}

/// Returns whether the change is new. A change is not new if it is part of a change that was
/// reported shortly before. When a server takes over many slots, the client hears of this several
/// times. Each slot that the client uses causes a redirection, and the next slot map shows the
/// change again.
bool cluster_node::is_news(const slot_map::change& one) {
    const std::string left = text_of(map().address(one.from)),
                      here = text_of(map().address(one.to));
    const time_point now = context_->home.time.now();
    std::erase_if(reported_, [now](const auto& each) {
        return net::later(each.second, one_change_max) <= now;
    });
    reported_.erase({here, left}); // the slots may move back, and then here again
    return reported_.try_emplace({left, here}, now).second;
}

/// Reports that the holds in slots with a new owner may be lost (`revalidate`). If a server has
/// lost all its slots, the report is urgent, because the new owner of these slots may lack the
/// latest writes.
void cluster_node::revalidate(map_watch::changes all) {
    const auto slots = std::make_shared<std::bitset<slot_count>>();
    bool urgent = false;
    for (const slot_map::change& one : all) {
        if (one.from == slot_map::nobody || one.to == slot_map::nobody)
            continue;
        urgent = urgent || map().slots_of(one.from) == 0;
        for (std::size_t slot = one.first; slot <= one.last; ++slot)
            slots->set(slot);
    }
    const auto is_there = [slots](const lock_name& name) {
        return slots->test(key_slot(name.text));
    };
    if (slots->any() && context_->home.revalidate)
        context_->home.revalidate(is_there, urgent);
}

void cluster_node::retire(node_number which, const std::string& told_by) {
    if (which >= servers_.size() || !servers_[which])
        return;
    const shared_server left = std::exchange(servers_[which], nullptr);
    left->server.retire(left->context->address() + " is not part of the cluster any more, as " +
                        told_by + " reported; the client does not wait for its answer");
}

void cluster_node::tidy() {
    place_anew();
    const time_point now = context_->home.time.now();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const auto number = static_cast<node_number>(i);
        if (servers_[i] && map().slots_of(number) == 0 &&
            net::later(servers_[i]->used_at, unused_max) <= now)
            retire(number, "the map of the cluster");
    }
}

duration cluster_node::usual_outage() const noexcept {
    return outage_of_failover;
}

server_identity cluster_node::identity(std::string_view key) const {
    const shared_server there = known_server_of(map().owner(key_slot(key)));
    return there ? there->server.identity() : server_identity{};
}

asio::awaitable<topology_report> cluster_node::survey() {
    const duration timeout = context_->how.command_timeout;
    co_await watch_->known(net::later(context_->home.time.now(), timeout), true);
    co_return co_await topology_inspector_->examine_cluster(map(), form());
}

void cluster_node::close() noexcept {
    if (std::exchange(closed_, true))
        return;
    pauses_->end();
    watch_->close();
    topology_inspector_->close();
    for (const shared_server& each : servers_)
        if (each)
            each->server.close();
}

slot_subscription::slot_subscription(channel_name where, alarm& rung, linger how)
    : channel{std::move(where)}
    , wake{rung}
    , afterwards{how}
    , slot{key_slot(channel.text)} {}

asio::awaitable<bool> slot_subscription::confirmed(time_point limit) {
    bool sure = false;
    for (const hearing* asked = nullptr; here_ && here_.get() != asked;) {
        asked = here_.get();
        is_awaited_ = true;
        sure = co_await here_->confirmed(limit);
        is_awaited_ = false;
        left_.clear();
    }
    co_return sure;
}

void slot_subscription::settle_at(std::weak_ptr<const void> server,
                                  std::unique_ptr<hearing> there) {
    at_ = std::move(server);
    if (is_awaited_ && here_)
        left_.push_back(std::move(here_));
    here_ = std::move(there);
}

bool slot_subscription::may_move(time_point now) {
    if (now < not_before_)
        return false;
    const bool is_calm = net::later(not_before_, calm) <= now;
    pause_ = is_calm ? pause_min : std::min(2 * pause_, pause_max);
    not_before_ = net::later(now, pause_);
    return true;
}

} // namespace holdfast::redis
