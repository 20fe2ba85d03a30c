// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/map_poll.hpp"

#include "net/address.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "redis/wire/composer.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::redis {
namespace {

std::string map_question() {
    std::string words;
    composer{words}.request({"CLUSTER", "SLOTS"});
    return words;
}

/// Returns whether a CLUSTER SLOTS reply comes from a server that supports sharded pub/sub (7.0 or
/// later). Since 7.0, the entry of a node has a fourth item after address, port and id.
bool tells_of_shards(const reply& slots) {
    constexpr std::size_t first_node = 2, more_than = 3;
    return std::ranges::all_of(slots.items, [](const reply& range) {
        return range.items.size() > first_node && range.items[first_node].items.size() > more_than;
    });
}

std::shared_ptr<inquiries> round_of(const known_context& context, alarm& wake) {
    const auto who = [context] {
        return net::credentials_now({context->how.user, context->how.password},
                                    context->how.credentials);
    };
    return std::make_shared<inquiries>(context, who, map_question(), 1, wake);
}

} // namespace

map_poll::map_poll(known_context context, const ways& how, const slot_map& map, plan what,
                   alarm& wake)
    : context_{std::move(context)}
    , ways_{how}
    , map_{map}
    , plan_{std::move(what)}
    , wake_{wake}
    , known_{map.members()}
    , round_{round_of(context_, wake)}
    , began_{now()}
    , members_{known_.addresses} {}

asio::awaitable<void> map_poll::run(std::function<bool()> closed) {
    queue_members();
    if (plan_.urgent)
        queue(plan_.seeds);
    if (plan_.lonely || !known_.any())
        queue_others();
    ask_up_to(plan_.urgent && known_.any() ? many : few);
    time_point next_step = net::later(began_, step);
    for (take_in(); !closed() && !is_over() && !timed_out_; take_in()) {
        ask_more(next_step);
        timed_out_ = now() >= limit_;
        if (!is_over() && !timed_out_)
            co_await wake_.wait_until(std::min(next_step, limit_));
    }
    round_->end();
}

void map_poll::ask_more(time_point& next_step) {
    if (ours_.empty() && pending_members() == 0)
        queue_others();
    if (is_disputed())
        ask_up_to(many);
    else if (!known_.any() && !ours_.empty())
        ask_up_to(few);
    else if (round_->pending() == 0)
        ask_up_to(std::min(asked_.size() + few, many));
    if (now() < next_step)
        return;
    next_step = net::later(now(), step);
    if (!ours_.empty())
        return;
    queue_others();
    ask_up_to(asked_.size() + many);
}

/// Queues the known members in random order. Members with an open connection come first.
void map_poll::queue_members() {
    std::vector<server_address> all = map_.member_addresses();
    shuffle(all);
    // Clang 14 cannot compile std::ranges::stable_partition.
    std::stable_partition(all.begin(), all.end(), ways_.is_connected);
    queue(std::move(all));
}

/// Queues the seeds, and then all nodes that were ever known. Some of them may have left the
/// cluster.
void map_poll::queue_others() {
    if (std::exchange(others_queued_, true))
        return;
    std::vector<server_address> seeds = plan_.seeds, former;
    shuffle(seeds);
    queue(std::move(seeds));
    for (std::size_t i = 0; i < map_.size(); ++i)
        former.push_back(map_.address(static_cast<slot_map::node_number>(i)));
    shuffle(former);
    queue(std::move(former));
}

void map_poll::queue(std::vector<server_address> all, bool first) {
    if (first)
        std::ranges::reverse(all);
    for (server_address& each : all) {
        if (each.host.empty() || !queued_.insert(text_of(each)).second)
            continue;
        if (first)
            queue_.push_front(std::move(each));
        else
            queue_.push_back(std::move(each));
    }
}

void map_poll::shuffle(std::vector<server_address>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[context_->home.random() % i]);
}

void map_poll::ask_up_to(std::size_t count) {
    while (may_ask_more() && asked_.size() < count) {
        const server_address next = std::move(queue_.front());
        queue_.pop_front();
        ask_one(next);
    }
}

void map_poll::ask_one(const server_address& whom) {
    asked_.insert(text_of(whom));
    limit_ = net::later(now(), context_->how.connect_timeout);
    if (ways_.is_connected(whom))
        round_->ask_by(whom, ways_.ask(whom));
    else
        round_->ask(whom, context_->how.tls, limit_);
}

void map_poll::take_in() {
    const std::size_t before = answers_taken_ + failures_taken_;
    for (; failures_taken_ < round_->failures().size(); ++failures_taken_)
        told_.insert(text_of(round_->failures()[failures_taken_].from));
    for (; answers_taken_ < round_->answers().size(); ++answers_taken_) {
        const inquiries::answer& one = round_->answers()[answers_taken_];
        told_.insert(text_of(one.from));
        try {
            votes_.emplace_back(one.from, read_slots(one.said.front(), one.from));
            votes_know_shards_.push_back(tells_of_shards(one.said.front()));
        } catch (const net::failure& why) {
            const std::string whom = net::address_of(one.from);
            troubles_ += (troubles_.empty() ? "" : "; ") + whom + ": " + why.text();
            if (why.code() == errc::refused)
                refused_ = why;
        }
    }
    if (answers_taken_ + failures_taken_ != before)
        judge();
}

/// Selects the replies that have a vote, and queues the nodes that these replies name.
void map_poll::judge() {
    ours_.clear();
    members_ = known_.addresses;
    agreeing_ = 0;
    differs_ = false;
    all_know_shards_ = true;
    std::map<std::size_t, std::size_t> equal; // number of equal replies, by fingerprint
    for (const std::size_t place : votes_of(known_, votes_)) {
        const map_vote& one = votes_[place];
        ours_.push_back(one.said);
        members_.insert(one.addresses.begin(), one.addresses.end());
        all_know_shards_ = all_know_shards_ && votes_know_shards_[place];
        differs_ = differs_ || (known_.any() && map_.differs_from(one.said));
        if (const std::size_t count = ++equal[one.fingerprint]; count > agreeing_) {
            agreeing_ = count;
            ours_are_whole_ = one.knows_all_slots;
        }
        queue(nodes_in(one.said), true);
    }
}

bool map_poll::is_disputed() const {
    return differs_ || agreeing_ < ours_.size();
}

std::size_t map_poll::pending_members() const {
    return static_cast<std::size_t>(std::ranges::count_if(asked_, [&](const std::string& one) {
        return members_.contains(one) && !told_.contains(one);
    }));
}

std::size_t map_poll::voters() const {
    return ours_.size() + (timed_out_ ? 0 : pending_members());
}

bool map_poll::is_over() const {
    if (round_->pending() == 0 && !may_ask_more())
        return true;
    const bool agreed = 2 * agreeing_ > voters();
    const std::size_t enough = is_disputed() ? many : known_.any() ? 0 : few;
    const bool asks_more = may_ask_more() && asked_.size() < enough;
    // The first round also learns whether all nodes support sharded pub/sub. Therefore it waits for
    // more replies.
    const bool waits_on = !known_.any() || !ours_are_whole_;
    return agreed && !asks_more &&
           (round_->pending() == 0 || !waits_on || now() >= net::later(began_, step));
}

std::vector<slot_ranges> map_poll::maps_of_strange_seeds() const {
    std::vector<map_vote> all;
    for (const map_vote& one : votes_)
        if (std::ranges::find(plan_.seeds, one.from) != plan_.seeds.end())
            all.push_back(one);
    std::vector<slot_ranges> maps;
    for (const std::size_t place : votes_of({}, all))
        maps.push_back(all[place].said);
    if (2 * maps.size() <= plan_.seeds.size())
        maps.clear();
    return maps;
}

std::string map_poll::troubles() const {
    const std::string silent = round_->troubles();
    return troubles_ + (troubles_.empty() || silent.empty() ? "" : "; ") + silent;
}

} // namespace holdfast::redis
