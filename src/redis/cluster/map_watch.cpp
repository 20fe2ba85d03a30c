// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/map_watch.hpp"

#include "net/address.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "redis/cluster/agreement.hpp"
#include "redis/wire/composer.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::uint16_t usual_port = 6379;

std::vector<server_address> seeds_of(const options& how) {
    std::vector<server_address> seeds = how.cluster->addresses;
    for (server_address& each : seeds)
        if (each.port == 0)
            each.port = usual_port;
    return seeds;
}

/// From 7.0 on a server tells more than address, port and id of a node; from then on, too, it knows
/// sharded messages.
bool tells_of_shards(const reply& slots) {
    constexpr std::size_t first_node = 2, more_than = 3;
    return std::ranges::all_of(slots.items, [](const reply& range) {
        return range.items.size() > first_node && range.items[first_node].items.size() > more_than;
    });
}

/// Whether the others need not be waited for: one of them may hang.
bool are_decided(const inquiries& round) {
    std::vector<slot_ranges> maps;
    for (const inquiries::answer& one : round.answers())
        try {
            maps.push_back(read_slots(one.said.front(), one.from));
        } catch (const net::failure&) {
            continue; // it is judged with the others
        }
    return most_agree(std::move(maps), round.asked());
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
    const slot_map::node_number from = map_.owner(slot);
    const slot_map::node_number now_at = map_.moved(slot, to);
    want();
    if (now_at == from || now_at == slot_map::nobody)
        return;
    const slot_map::change one[] = {{slot, slot, from, now_at}};
    around_.changed(one, "the server that had it");
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
        // Whoever begins to depend on it rings nobody: so look again then.
        co_await wake_->wait_until(std::min(until, net::later(home.time.now(), period)));
    }
}

/// Any of them, but rather those that are connected.
std::vector<server_address> map_watch::some_nodes() {
    std::vector<server_address> all;
    for (std::size_t i = 0; i < map_.size(); ++i)
        all.push_back(map_.address(static_cast<slot_map::node_number>(i)));
    std::erase_if(all, [](const server_address& each) { return each.host.empty(); });
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[context_->home.random() % i]);
    std::stable_partition(all.begin(), all.end(), around_.is_connected); // not clang 14's ranges
    all.resize(std::min(all.size(), asked_at_once));
    return all;
}

asio::awaitable<void> map_watch::ask() {
    wanted_ = false;
    const time_point limit = net::later(context_->home.time.now(), context_->how.connect_timeout);
    std::string words;
    composer{words}.request({"CLUSTER", "SLOTS"});
    const auto who = [context = context_] {
        return net::credentials_now({context->how.user, context->how.password},
                                    context->how.credentials);
    };
    const slot_map::stamp asked = map_.now();
    const auto round = std::make_shared<inquiries>(context_, who, std::move(words), 1, *wake_);
    for (const server_address& each : some_nodes()) {
        if (around_.is_connected(each))
            round->ask_by(each, around_.ask(each));
        else
            round->ask(each, context_->how.tls, limit);
    }
    // The first time it is also learnt what all of them are capable of.
    const auto is_over = [this, &round] { return closed_ || (known_ && are_decided(*round)); };
    co_await round->settled(settles_in, limit, is_over);
    round->end();
    if (!closed_)
        judge(*round, asked);
}

void map_watch::judge(const inquiries& told, slot_map::stamp asked) {
    std::vector<slot_ranges> maps;
    bool all_know_shards = true;
    std::string troubles = told.troubles();
    refused_.reset();
    for (const inquiries::answer& one : told.answers()) {
        try {
            maps.push_back(read_slots(one.said.front(), one.from));
            all_know_shards = all_know_shards && tells_of_shards(one.said.front());
        } catch (const net::failure& why) {
            const std::string whom = net::address_of(one.from);
            troubles += (troubles.empty() ? "" : "; ") + whom + ": " + why.text();
            if (why.code() == errc::refused)
                refused_ = why;
        }
    }
    if (maps.empty()) {
        if (!troubles.empty())
            silence_ = "no node of the cluster tells who has which slots: " + troubles;
        if (known_)
            refused_.reset(); // what is known is better than nothing
        incomplete_ = true;
        return refused_ ? wake_waiters() : void();
    }
    refused_.reset();
    if (!std::exchange(known_, true))
        knows_shards_ = all_know_shards;
    const std::vector<slot_map::change> all = map_.renew(maps, asked);
    if (!all.empty())
        around_.changed(all, "the nodes of the cluster");
    incomplete_ = map_.unserved() > 0;
    around_.tidy();
    wake_waiters();
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
