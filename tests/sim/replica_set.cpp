// SPDX-License-Identifier: Apache-2.0
#include "sim/replica_set.hpp"

#include "sim/inspection.hpp"
#include "sim/world.hpp"
#include "store/memory/test_access.hpp"

#include <algorithm>
#include <string>

namespace holdfast::sim {
namespace {

constexpr std::uint64_t dice_of_replicas = 0x7265706c696361;

} // namespace

replica_set::replica_set(world& w, std::uint64_t seed)
    : world_{w}
    , how_{w.how.replicas}
    , dice_{seed ^ dice_of_replicas}
    , empty_(index(machines())) {
    if (!exists())
        return;
    w.server.replicate(index(how_.count), how_.lag);
    for (int machine = 0; machine < machines(); ++machine)
        w.server.step_clock(index(machine), how_.clocks.at(index(machine)));
}

int replica_set::primary() const {
    return static_cast<int>(memory::primary_number(world_.server));
}

bool replica_set::is_old_primary(int machine) const {
    return machine != primary() &&
           memory::machines(world_.server)->at(index(machine))->is_primary();
}

std::size_t replica_set::listeners(int machine) const {
    return memory::machines(world_.server)->at(index(machine))->listener_count();
}

bool replica_set::stands_still(int machine) const {
    return memory::machines(world_.server)->at(index(machine))->stands_still();
}

std::optional<std::uint64_t> replica_set::received(int machine) const {
    return memory::machines(world_.server)->at(index(machine))->received();
}

void replica_set::promote(int machine) {
    world_.log.note({.server = machine}, "IS PROMOTED");
    came_back_empty_ = came_back_empty_ || is_empty(machine);
    empty_[index(machine)] = false;
    ++promotions_;
    promoted_at_ = world_.clock.now();
    announced_ = machine;
    world_.fails_over();
    world_.server.promote(index(machine));
    (void)in_doubt();
}

void replica_set::announce(int machine) {
    world_.log.note({.server = machine}, "is announced as the primary");
    announced_ = machine;
    memory::announce(world_.server, index(machine));
}

void replica_set::demote(int machine) {
    world_.log.note({.server = machine}, "is a replica from here on");
    (void)in_doubt();
    world_.server.demote(index(machine));
}

void replica_set::stop(int machine) {
    world_.log.note({.server = machine}, "STANDS STILL");
    (void)in_doubt();
    world_.server.stop(index(machine));
}

void replica_set::resume(int machine) {
    world_.log.note({.server = machine}, "goes on");
    world_.server.resume(index(machine));
    if (machine == primary())
        primary_stood_ = world_.clock.now();
    (void)in_doubt();
}

void replica_set::cut(int machine) {
    world_.log.note({.server = machine}, "gets nothing more of what is written");
    world_.server.cut_replica(index(machine));
}

void replica_set::slow_down(int machine, duration lag) {
    world_.log.note({.server = machine}, "has what is written {} ms later", lag);
    world_.server.set_lag(index(machine), lag);
}

void replica_set::restart_empty(int machine) {
    world_.log.note({.server = machine}, "is restarted, and empty, as a replica");
    empty_[index(machine)] = true;
    world_.server.restart_empty(index(machine));
}

void replica_set::trouble_ends() {
    if (healed_)
        return;
    --troubles_;
    trouble_at_ = world_.clock.now();
}

/// Ends all faults. Their effects end later: when all requests in flight have ended, and a second
/// later, when clients have retried.
void replica_set::heal() {
    healed_ = true;
    troubles_ = 0;
    trouble_at_ = world_.clock.now() + 2 * world_.how.command_timeout + duration{1000};
}

bool replica_set::may_show_ghosts() const {
    const duration longest =
        world_.how.lease_longest + (world_.how.fair > 0 ? world_.how.waiter_timeout() : duration{});
    return promotions_ > 0 &&
           world_.clock.now() <= promoted_at_ + longest + longest / 50 + clocks_apart();
}

bool replica_set::is_there(const seat& place) const {
    return place.asks == memory::primary_state(world_.server)->id();
}

time_point replica_set::primary_stood_still() const {
    return stands_still(primary()) ? world_.clock.now() : primary_stood_;
}

duration replica_set::clocks_apart() const {
    if (!exists())
        return {};
    return *std::max_element(how_.clocks.begin(), how_.clocks.end()) -
           *std::min_element(how_.clocks.begin(), how_.clocks.end());
}

time_point replica_set::last_trouble() const {
    return troubles_ > 0 ? world_.clock.now() : trouble_at_;
}

duration replica_set::longest_confirmation() const {
    return exists() ? std::min<duration>(std::chrono::seconds{1}, world_.how.command_timeout / 3)
                    : duration{};
}

std::optional<duration> replica_set::draw_news() {
    const int kind = dice_.between(0, 99);
    const int soon = how_.is_told ? 75 : 30, ever = how_.is_told ? 92 : 75;
    if (kind >= ever)
        return std::nullopt;
    return dice_.between(duration{0}, kind < soon ? duration{100} : duration{1500});
}

std::optional<duration> replica_set::news_for(seat& place) {
    const subject who{.client = place.number};
    std::optional<duration> after = news_of ? news_of(place) : draw_news();
    if (all_hear_)
        after = duration{0};
    if (after)
        world_.log.note(who, "will hear of another primary in {} ms", *after);
    else
        world_.log.note(who, "will not hear of another primary");
    note_news(place, after);
    return after;
}

/// Stores the time at which a place learns of the new primary. An ended program and its successor
/// at this place learn of it separately; the later time counts.
void replica_set::note_news(seat& place, std::optional<duration> after) const {
    const time_point now = world_.clock.now();
    const bool is_second = place.news.told_at == now && place.news.machine == announced_;
    std::optional<time_point> at;
    if (after)
        at = now + *after;
    if (is_second && at)
        at = place.news.at ? std::optional{std::max(*at, *place.news.at)} : std::nullopt;
    place.news = {now, at, announced_};
}

/// Checks that a client that knows of the new primary sends no request to the old primary.
void replica_set::check_sent(const seat& place, std::size_t machine) {
    if (!place.news.at || world_.clock.now() <= *place.news.at ||
        static_cast<int>(machine) == place.news.machine)
        return;
    world_.violated("who hears of another primary goes there", -1,
                    "client" + std::to_string(place.number) + " has heard of machine " +
                        std::to_string(place.news.machine) + ", and asks machine " +
                        std::to_string(machine));
}

/// Returns whether two clients may believe that they hold the same lock. After a failover, the old
/// primary may still grant and renew locks for clients that do not know of it, and their leases
/// last for a while.
bool replica_set::in_doubt() {
    if (!exists() || promotions_ == 0)
        return false;
    bool lasts = world_.clock.now() == promoted_at_;
    for (int machine = 0; machine < machines(); ++machine)
        lasts = lasts || (is_old_primary(machine) && !stands_still(machine));
    if (lasts)
        doubt_until_ = world_.clock.now() + world_.how.lease_longest + clocks_apart();
    return world_.clock.now() <= doubt_until_;
}

bool replica_set::survives(const claim& c) const {
    return how_.clocks_agree && !came_back_empty_ && c.wants >= static_cast<unsigned>(how_.count);
}

bool replica_set::all_survive(int name) const {
    const std::vector<unsigned>& some = how_.wants.at(static_cast<std::size_t>(name));
    const auto wants_all = [this](unsigned each) {
        return each >= static_cast<unsigned>(how_.count);
    };
    return how_.clocks_agree && !came_back_empty_ && std::ranges::all_of(some, wants_all);
}

} // namespace holdfast::sim
