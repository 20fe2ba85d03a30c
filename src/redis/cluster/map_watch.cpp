// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/map_watch.hpp"

#include "net/address.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "redis/wire/composer.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::uint16_t usual_redis_port = 6379;

std::vector<server_address> seeds_of(const options& how) {
    std::vector<server_address> seeds = how.cluster->addresses;
    for (server_address& each : seeds)
        if (each.port == 0)
            each.port = usual_redis_port;
    return seeds;
}

} // namespace

map_watch::map_watch(known_context context, surroundings around)
    : context_{std::move(context)}
    , around_{std::move(around)}
    , wake_{context_->home.time.make_alarm()}
    , map_{seeds_of(context_->how)} {}

asio::awaitable<void> map_watch::known(time_point limit, bool stale) {
    if (known_ && !stale)
        co_return;
    want();
    const std::unique_ptr<alarm> told = context_->home.time.make_alarm();
    waiters_.insert(told.get());
    if (!closed_)
        co_await told->wait_until(limit);
    waiters_.erase(told.get());
    if (closed_)
        throw net::failure{errc::closed, "the client is closed"};
    if (refused_)
        throw net::failure{*refused_};
    if (!known_)
        throw net::failure{errc::unreachable, silence_};
}

void map_watch::want() {
    if (closed_)
        return;
    wanted_ = true;
    if (!std::exchange(running_, true))
        runtime::run_in_background(context_->home, watch(shared_from_this()));
    wake_->ring();
}

void map_watch::moved(std::uint16_t slot, const server_address& to) {
    if (closed_)
        return;
    want();
    if (!is_vouched_for(to)) // the sender and `to` may belong to another cluster now
        return;
    const slot_map::node_number from = map_.owner(slot);
    const slot_map::node_number now_at = map_.moved(slot, to);
    if (now_at == from || now_at == slot_map::nobody)
        return;
    const slot_map::change one[] = {{slot, slot, from, now_at}};
    around_.changed(one, "the server that had it");
}

bool map_watch::is_vouched_for(const server_address& where) const {
    return vouched_.contains(text_of(where)) || map_.is_member(where);
}

asio::awaitable<bool> map_watch::belongs(server_address where, time_point limit) {
    if (is_vouched_for(where))
        co_return true;
    const std::unique_ptr<alarm> told = context_->home.time.make_alarm();
    std::string words;
    composer{words}.request({"CLUSTER", "SLOTS"});
    const auto who = [context = context_] {
        return net::credentials_now({context->how.user, context->how.password},
                                    context->how.credentials);
    };
    const auto question = std::make_shared<inquiries>(context_, who, std::move(words), 1, *told);
    struct asking { // cancels the question on every exit from this function
        ~asking() {
            about->end();
            all.erase(wake);
        }
        inquiries* about;
        std::set<alarm*>& all;
        alarm* wake;
    } const under_way{question.get(), waiters_, told.get()};
    waiters_.insert(told.get()); // close() wakes all alarms in this set
    limit = std::min(limit, net::later(context_->home.time.now(), context_->how.connect_timeout));
    question->ask(where, context_->how.tls, limit);
    const auto closed = [this] { return closed_; };
    co_await question->settled(inquiries::enough::one, duration{}, limit, closed);
    if (closed_)
        throw net::failure{errc::closed, "the client is closed"};
    for (const inquiries::answer& one : question->answers())
        if (is_ours(one))
            vouched_.insert(text_of(where));
    co_return is_vouched_for(where);
}

void map_watch::moved_perhaps(std::uint16_t slot, server_address to) {
    if (!closed_)
        runtime::run_in_background(context_->home, follow(shared_from_this(), slot, std::move(to)));
}

asio::awaitable<void> map_watch::follow(self mine, std::uint16_t slot, server_address to) {
    try {
        (void)co_await mine->belongs(to, time_point::max());
        mine->moved(slot, to);
    } catch (const net::failure&) { // the client is closed
        co_return;
    }
}

bool map_watch::is_ours(const inquiries::answer& one) const {
    try {
        return map_.members().recognize(read_slots(one.said.front(), one.from));
    } catch (const net::failure&) {
        return false;
    }
}

asio::awaitable<void> map_watch::watch(self mine) {
    while (!mine->closed_) {
        co_await mine->ask();
        if (!mine->closed_)
            co_await mine->rest();
    }
    mine->wake_waiters();
}

asio::awaitable<void> map_watch::rest() {
    const store_context& home = context_->home;
    const auto jitter = static_cast<duration::rep>(home.random() % 1000);
    const time_point asked_at = home.time.now();
    const time_point hurried =
        net::later(asked_at, hurried_min + (hurried_max - hurried_min) * jitter / 1000);
    const duration period = context_->how.topology_check;
    const time_point unhurried = net::later(asked_at, period - period / 5 * jitter / 1000);
    while (!closed_) {
        const bool is_used = around_.is_used();
        const bool is_urgent = wanted_ || !waiters_.empty() || (incomplete_ && is_used);
        const time_point until = is_urgent ? hurried : is_used ? unhurried : time_point::max();
        if (home.time.now() >= until)
            break;
        // No event reports that a call or hold has begun to depend on the map. Therefore check
        // `is_used` again after each `period`.
        co_await wake_->wait_until(std::min(until, net::later(home.time.now(), period)));
    }
}

asio::awaitable<void> map_watch::ask() {
    const map_poll::plan what{.urgent = std::exchange(wanted_, false),
                              .lonely = lonely_,
                              .seeds = seeds_of(context_->how)};
    const slot_map::stamp asked = map_.now();
    map_poll round{context_, around_.nodes, map_, what, *wake_};
    const auto closed = [this] { return closed_; };
    co_await round.run(closed);
    if (!closed_)
        judge(round, asked);
}

void map_watch::judge(const map_poll& told, slot_map::stamp asked) {
    const std::vector<slot_ranges> strange = believed_of_strangers(told);
    const std::vector<slot_ranges>& maps = strange.empty() ? told.maps() : strange;
    lonely_ = maps.empty();
    refused_.reset();
    if (maps.empty()) {
        if (const std::string why = told.troubles(); !why.empty())
            silence_ = "no node of the cluster tells who has which slots: " + why;
        if (!known_) // if a map is known, an old map is better than an error
            refused_ = told.refused();
        incomplete_ = true;
        return refused_ ? wake_waiters() : void();
    }
    confirmed_at_ = context_->home.time.now();
    if (!std::exchange(known_, true))
        knows_shards_ = told.all_know_shards();
    const std::size_t voters = strange.empty() ? told.voters() : strange.size();
    const std::vector<slot_map::change> all = map_.renew(maps, asked, voters);
    vouched_.clear();
    if (!all.empty())
        around_.changed(all, "the nodes of the cluster");
    incomplete_ = map_.unserved() > 0;
    around_.tidy();
    wake_waiters();
}

/// Returns the maps of seeds that belong to another cluster, if these maps are accepted. They are
/// accepted when no node of the known cluster has replied for `strangers_wait`. A client without
/// holds accepts them at once if the known map was last confirmed more than `forgotten_after` ago.
std::vector<slot_ranges> map_watch::believed_of_strangers(const map_poll& told) {
    std::vector<slot_ranges> maps;
    if (known_ && told.maps().empty())
        maps = told.maps_of_strange_seeds();
    if (maps.empty()) {
        strange_since_.reset();
        return maps;
    }
    const time_point now = context_->home.time.now();
    if (!strange_since_)
        strange_since_ = now;
    const auto& holds_any = context_->home.holds_any;
    const bool was_idle =
        net::later(confirmed_at_, forgotten_after) <= now && !(holds_any && holds_any());
    if (!was_idle && now < net::later(*strange_since_, strangers_wait))
        maps.clear();
    return maps;
}

void map_watch::wake_waiters() {
    for (alarm* const each : waiters_)
        each->ring();
}

void map_watch::close() {
    if (std::exchange(closed_, true))
        return;
    wake_->ring();
    wake_waiters();
}

} // namespace holdfast::redis
