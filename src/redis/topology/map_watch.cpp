// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/map_watch.hpp"

#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "redis/client/resp.hpp"
#include "runtime/background.hpp"

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

/// Returns whether a CLUSTER SLOTS reply comes from a server with sharded pub/sub (7.0 or later).
/// In replies since 7.0, a node has a fourth item after its address, port and id.
bool tells_of_shards(const reply& slots) {
    constexpr std::size_t first_node = 2, more_than = 3;
    return std::ranges::all_of(slots.items, [](const reply& range) {
        return range.items.size() > first_node && range.items[first_node].items.size() > more_than;
    });
}

std::set<std::string> owners_in(const slot_map& map) {
    std::set<std::string> all;
    for (const slot_map::node_number each : map.primaries())
        all.insert(text_of(map.address(each)));
    return all;
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
    , owners_{owners_in(map)}
    , round_{round_of(context_, wake)}
    , began_{now()}
    , members_{known_.addresses} {}

asio::awaitable<void> map_poll::run(std::function<bool()> closed) {
    if (plan_.is_start)
        queue(plan_.seeds);
    queue_members();
    if (plan_.urgent)
        queue(plan_.seeds);
    if (plan_.lonely || !known_.any())
        queue_others();
    if (plan_.is_start)
        ask_up_to(std::max(many, plan_.seeds.size()));
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

/// Queues the known members in random order, but members with an open connection come first. In an
/// urgent round, owners of slots come before replicas.
void map_poll::queue_members() {
    std::vector<server_address> all = map_.member_addresses();
    shuffle(all);
    if (plan_.urgent)
        std::stable_partition(all.begin(), all.end(), [this](const server_address& each) {
            return owners_.contains(text_of(each));
        });
    // clang 14 cannot compile std::ranges::stable_partition.
    std::stable_partition(all.begin(), all.end(), ways_.is_connected);
    queue(std::move(all));
}

/// Queues the seeds (the nodes in the options), and then all other nodes in the map, including
/// former nodes of the cluster.
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

/// Selects the replies that come from this cluster, because only these replies count. Queues the
/// nodes that these replies name.
void map_poll::judge() {
    ours_.clear();
    seeds_in_vote_.clear();
    members_ = known_.addresses;
    agreeing_ = 0;
    differs_ = false;
    all_know_shards_ = true;
    std::map<std::size_t, std::size_t> equal; // number of equal replies
    for (const std::size_t place : votes_of(known_, votes_)) {
        const map_vote& one = votes_[place];
        ours_.push_back(one.said);
        if (std::ranges::find(plan_.seeds, one.from) != plan_.seeds.end())
            seeds_in_vote_.insert(text_of(one.from));
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

bool map_poll::is_lone_contradiction() const {
    const bool an_owner_is_silent = std::ranges::any_of(
        owners_, [this](const std::string& each) { return !told_.contains(each); });
    return timed_out_ && differs_ && ours_.size() == 1 && known_.addresses.size() > 2 &&
           an_owner_is_silent;
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
    // The first round also finds out whether all nodes have sharded pub/sub. So the first round
    // waits for more replies than the slot map needs.
    const bool waits_on = !known_.any() || !ours_are_whole_ || plan_.is_start;
    return agreed && !asks_more && !waits_for_seeds() &&
           (round_->pending() == 0 || !waits_on || now() >= net::later(began_, step));
}

/// Returns whether the seeds that have not replied yet may decide to which cluster the client
/// belongs: it is the start, and no more than half of the asked seeds belong to one cluster so far.
bool map_poll::waits_for_seeds() const {
    if (known_.any() && !plan_.is_start)
        return false;
    std::size_t asked = 0, pending = 0;
    for (const server_address& each : plan_.seeds) {
        asked += asked_.contains(text_of(each)) ? 1 : 0;
        pending += asked_.contains(text_of(each)) && !told_.contains(text_of(each)) ? 1 : 0;
    }
    return pending > 0 && 2 * maps_of_largest_cluster_of_seeds().size() <= asked;
}

std::vector<slot_ranges> map_poll::maps_of_largest_cluster_of_seeds() const {
    std::vector<map_vote> all;
    for (const map_vote& one : votes_)
        if (std::ranges::find(plan_.seeds, one.from) != plan_.seeds.end())
            all.push_back(one);
    std::vector<slot_ranges> maps;
    for (const std::size_t place : votes_of({}, all))
        maps.push_back(all[place].said);
    return maps;
}

std::vector<slot_ranges> map_poll::maps_of_strange_seeds() const {
    std::vector<slot_ranges> maps = maps_of_largest_cluster_of_seeds();
    if (2 * maps.size() <= plan_.seeds.size())
        maps.clear();
    return maps;
}

std::string map_poll::troubles() const {
    const std::string silent = round_->troubles();
    return troubles_ + (troubles_.empty() || silent.empty() ? "" : "; ") + silent;
}

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

map_watch::map_watch(known_context context, callbacks around)
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
    struct asking { // cancels the question however this function ends
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
    const duration check = context_->how.topology_check;
    const duration period = is_start() ? std::min(start_period, check) : check;
    const time_point unhurried = net::later(asked_at, period - period / 5 * jitter / 1000);
    while (!closed_) {
        const bool is_used = around_.is_used();
        const bool is_urgent = wanted_ || !waiters_.empty() || (incomplete_ && is_used);
        const time_point until = is_urgent ? hurried : is_used ? unhurried : time_point::max();
        if (home.time.now() >= until)
            break;
        // Check `is_used` again after each `period`, because no event reports that a call or a hold
        // begins to depend on the map.
        co_await wake_->wait_until(std::min(until, net::later(home.time.now(), period)));
    }
}

asio::awaitable<void> map_watch::ask() {
    const map_poll::plan what{.urgent = std::exchange(wanted_, false),
                              .lonely = lonely_,
                              .is_start = is_start(),
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
            silence_ = "no node of the cluster returned the map of slots: " + why;
        if (!known_) // a known map, even an old one, is better than an error
            refused_ = told.refused();
        incomplete_ = true;
        alone_since_.reset(); // no node contradicted the map in this round
        return refused_ ? wake_waiters() : void();
    }
    if (strange.empty() && contradicts_alone(told)) {
        incomplete_ = true; // ask again soon
        return wake_waiters();
    }
    confirmed_at_ = context_->home.time.now();
    if (!std::exchange(known_, true)) {
        known_since_ = confirmed_at_;
        knows_shards_ = told.all_know_shards();
    }
    const std::size_t voters = strange.empty() ? told.voters() : strange.size();
    const std::vector<slot_map::change> all = map_.renew(maps, asked, voters);
    confirmed_ = confirmed_ || (strange.empty() ? told.is_confirmed_by_seeds()
                                                : map_.members().recognize(strange.front()));
    vouched_.clear();
    if (!all.empty())
        around_.changed(all, "the nodes of the cluster");
    incomplete_ = map_.unserved() > 0;
    around_.tidy();
    wake_waiters();
}

/// Returns the maps of seeds (nodes in the options) that belong to another cluster, if the client
/// should use them. Usually it uses them when no node of the known cluster has replied for
/// `strangers_wait`. There are two exceptions. A client without holds uses them at once if the
/// known map was last confirmed more than `forgotten_after` ago. At the start, the client uses the
/// map of most seeds at once, because its first map may come from a node of another cluster.
std::vector<slot_ranges> map_watch::believed_of_strangers(const map_poll& told) {
    std::vector<slot_ranges> maps;
    const bool is_doubtful = is_start() && !told.is_confirmed_by_seeds();
    if (known_ && (told.maps().empty() || is_doubtful))
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
    if (!was_idle && !is_doubtful && now < net::later(*strange_since_, strangers_wait))
        maps.clear();
    return maps;
}

/// Returns whether most seeds (nodes in the options) have not confirmed the map yet, and the client
/// got its first map only recently or the map leaves slots without an owner.
bool map_watch::is_start() const {
    const bool is_recent = context_->home.time.now() < net::later(known_since_, start_lasts);
    return known_ && !confirmed_ && (is_recent || map_.unserved() > 0);
}

/// Returns whether this round must leave the map unchanged for now, because only one member
/// replied, and its reply contradicts the map.
bool map_watch::contradicts_alone(const map_poll& told) {
    const time_point now = context_->home.time.now();
    if (!alone_since_)
        alone_since_ = now;
    const bool waits = told.is_lone_contradiction() && now < net::later(*alone_since_, alone_wait);
    if (!waits)
        alone_since_.reset();
    return waits;
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
