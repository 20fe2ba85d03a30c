// SPDX-License-Identifier: Apache-2.0
#include "sim/fortune.hpp"

#include "sim/ongoing.hpp"
#include "sync/engine.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::sim {

fortune::fortune(world& w, const plan& p, time_point end)
    : world_{w}
    , plan_{p}
    , end_{end} {}

void fortune::begin() {
    const mishaps& m = plan_.fate;
    for (seat& place : world_.seats) {
        if (m.cuts > duration{})
            world_.play(cut(place, world_.chance.split()));
        if (m.closes > duration{})
            world_.play(replace(place, world_.chance.split()));
        if (m.silences > duration{})
            world_.play(silence(place, world_.further.split()));
        if (m.missing_permissions > duration{})
            world_.play(deny(place, world_.further.split()));
    }
    if (m.foreigners > duration{})
        world_.play(occupy(world_.chance.split()));
    if (m.strangers > duration{})
        world_.play(send_strangers(world_.further.split()));
    if (m.server > duration{})
        world_.play(trouble_server(world_.chance.split()));
    if (m.rate != 1)
        world_.set_rate(m.rate);
}

void fortune::heal() {
    world_.log.note({}, "ALL IS WELL from here on");
    for (seat& place : world_.seats) {
        place.net.mend();
        place.net.silence(false);
        for (int name = 0; name < world_.names(); ++name)
            place.net.allow(name);
        place.net.set({.latency = plan_.usual.latency});
    }
    if (world_.rate() != 1)
        world_.set_rate(1);
    for (int name = 0; name < world_.names(); ++name)
        world_.vacate(name);
    bury_strangers();
    if (!plan_.counters.empty())
        world_.play(keep_counters_useful());
}

/// Adds permits for those that dead clients have lost, and counts latches down that would stay
/// closed.
asio::awaitable<void> fortune::keep_counters_useful() {
    const std::int64_t enough = plan_.people.amount * plan_.clients * plan_.actors;
    while (restless_) {
        for (int name = 0; name < world_.names(); ++name) {
            const std::int64_t count = world_.counter(name).value_or(0);
            if (world_.how.counts(name) == counter_kind::latch && count > 0)
                world_.count(name, counter_verb::count_down, count);
            const bool has_permits = world_.how.counts(name) == counter_kind::semaphore ||
                                     world_.how.counts(name) == counter_kind::permits;
            if (has_permits && count < enough)
                world_.count(name, counter_verb::add, enough - count);
        }
        co_await world_.sleep(plan_.how.poll_bound);
    }
}

/// Removes dead JVMs from the queues, because a JVM that died in a queue may block it for a very
/// long time.
void fortune::bury_strangers() {
    for (const dead_stranger& each : dead_)
        world_.stranger_gives_up(each.name, each.owner, each.wait);
}

asio::awaitable<void> fortune::pause(dice& d, duration usual) {
    const duration drawn = d.between(duration{1}, 2 * usual);
    return world_.sleep(std::clamp(end_ - world_.clock.now(), duration{0}, drawn));
}

asio::awaitable<void> fortune::cut(seat& place, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.cuts);
        if (over())
            co_return;
        const bool refusing = d.percent(50);
        world_.log.note({.client = place.number}, refusing ? "CUT OFF, connections are refused"
                                                           : "CUT OFF, all is swallowed");
        place.net.cut(refusing);
        co_await pause(d, plan_.fate.cut_lasts / 2);
        world_.log.note({.client = place.number}, "reaches the server again");
        place.net.mend();
    }
}

asio::awaitable<void> fortune::silence(seat& place, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.silences);
        if (over())
            co_return;
        world_.log.note({.client = place.number}, "SILENCE, its connection is dead");
        place.net.silence(true);
        co_await pause(d, plan_.fate.silence_lasts / 2);
        world_.log.note({.client = place.number}, "has a new connection");
        place.net.silence(false);
    }
}

asio::awaitable<void> fortune::deny(seat& place, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.missing_permissions);
        if (over())
            co_return;
        const int name = d.between(0, world_.names() - 1);
        world_.log.note({.client = place.number, .name = name}, "is not allowed any more");
        place.net.deny(name);
        co_await pause(d, plan_.how.lease_time);
        world_.log.note({.client = place.number, .name = name}, "is allowed again");
        place.net.allow(name);
    }
}

asio::awaitable<void> fortune::replace(seat& place, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.closes);
        if (over())
            co_return;
        if (d.percent(70)) {
            co_await close_program(world_, place);
        } else {
            world_.log.note({.client = place.number}, "is destroyed");
            world_.close_began(place);
        }
        world_.start_program(place); // destroys the old program
    }
}

asio::awaitable<void> fortune::occupy(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.foreigners);
        if (over())
            co_return;
        const int name = d.between(0, world_.names() - 1);
        if (plan_.how.counts(name)) {
            count_as_stranger(name, d);
            continue;
        }
        if (!plan_.fate.rude_foreigners && inspect(world_.server, world::name_of(name)))
            continue;
        duration lease = d.between(duration{1}, plan_.how.lease_longest);
        // locks of redis-py may have no expiry
        const bool is_endless = world_.how.is_token(name) && d.percent(20);
        if (is_endless)
            lease = duration::max();
        lock_kind kind = world_.how.is_token(name) ? lock_kind::token : lock_kind::plain;
        if (plan_.shared)
            kind = d.percent(50) ? lock_kind::read : lock_kind::write;
        world_.occupy(name, lease, kind);
        co_await pause(d, plan_.how.lease_time / 4);
        if (is_endless || d.percent(50))
            world_.vacate(name);
    }
}

void fortune::count_as_stranger(int name, dice& d) {
    if (plan_.how.counts(name) == counter_kind::rate)
        return; // a JVM uses a rate limiter in the same way as our clients
    if (plan_.how.counts(name) == counter_kind::permits && d.percent(60))
        return world_.take_permit(name, d.between(duration{1}, plan_.how.lease_longest));
    if (plan_.how.counts(name) == counter_kind::latch)
        world_.count(name, d.percent(80) ? counter_verb::count_down : counter_verb::erase, 1);
    else
        world_.count(name, d.percent(80) ? counter_verb::add : counter_verb::take_back, 1);
}

asio::awaitable<void> fortune::send_strangers(dice d) {
    for (int number = 0;; ++number) {
        co_await pause(d, plan_.fate.strangers);
        if (over())
            co_return;
        const int name = d.between(0, plan_.fair - 1);
        world_.play(live_as_stranger(name, "jvm:" + std::to_string(number), d.split()));
    }
}

/// Acts as a JVM that waits for a fair lock, and gets it, gives up or dies.
asio::awaitable<void> fortune::live_as_stranger(int name, std::string owner, dice d) {
    constexpr duration between_looks{20};
    const duration usual = plan_.how.stranger_waits();
    const bool timed = d.percent(30), dies = d.percent(5);
    const duration wait = timed ? d.between(duration{1}, usual) : usual;
    const time_point began = world_.clock.now();
    const time_point end = timed ? began + wait : end_;
    const duration lives = dies ? d.between(duration{1}, plan_.how.lease_time) : duration::max();
    world_.log.note({.name = name}, "a JVM comes, which waits up to {} ms", wait);
    while (!world_.stranger_looks(name, owner, wait)) {
        if (world_.clock.now() - began > lives) {
            world_.log.note({.name = name}, "that JVM dies in the queue");
            dead_.push_back({name, owner, wait});
            co_return;
        }
        if (world_.clock.now() >= end)
            co_return world_.stranger_gives_up(name, owner, wait);
        co_await world_.sleep(between_looks);
    }
    co_await world_.sleep(d.between(duration{1}, plan_.how.lease_time / 4));
    world_.stranger_releases(name, owner);
}

/// Connects the place's store with the server again. The client then asks about its holds.
asio::awaitable<void> fortune::reconnect(seat& place, duration takes) {
    co_await world_.sleep(takes);
    if (place.net.cut_off() || place.generation != place.of_program)
        co_return;
    world_.log.note({.client = place.number}, "is connected anew");
    place.net.connected_anew();
    place.program->engine()->renewals().revalidate({}, true);
}

asio::awaitable<void> fortune::trouble_server(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.server);
        if (over())
            co_return;
        const int what = d.between(0, 2);
        if (what == 0 && plan_.fate.restarts) {
            world_.restart_empty();
            for (seat& place : world_.seats)
                world_.play(reconnect(place, world_.further.between(duration{0}, duration{10})));
        }
        if (what == 1 && plan_.fate.evicts)
            world_.evict(d.between(0, world_.names() - 1));
        if (what == 2 && plan_.fate.steps) {
            const duration by = d.between(duration{1}, plan_.how.lease_longest);
            world_.step_clock(d.percent(50) ? by : -by);
        }
    }
}

asio::awaitable<void> close_program(world& w, seat& place) {
    operation o{.what = deed::close, .who = {.client = place.number}};
    o.generation = place.of_program;
    ongoing call{w, o};
    w.close_began(place);
    const std::tuple<error_code> answer = co_await place.program->async_close(call.token());
    call.ended(std::get<0>(answer));
}

succession::succession(world& w, const plan& p, time_point end)
    : world_{w}
    , all_{w.replicas}
    , plan_{p}
    , end_{end} {}

void succession::begin() {
    if (!all_.exists())
        return;
    world_.play(reign(world_.further.split()));
    if (plan_.fate.replicas > duration{})
        world_.play(disturb(world_.further.split()));
}

void succession::heal() {
    if (!all_.exists())
        return;
    all_.all_hear_at_once();
    const int primary = all_.primary();
    if (all_.stands_still(primary))
        all_.resume(primary);
    for (int machine = 0; machine < all_.machines(); ++machine) {
        if (machine == primary)
            continue;
        all_.demote(machine);
        if (all_.stands_still(machine))
            all_.resume(machine);
    }
    all_.announce(primary);
    all_.heal();
}

/// Sleeps for this time, but at most until `end_`.
asio::awaitable<void> succession::pause(duration length) {
    return world_.sleep(std::clamp(end_ - world_.clock.now(), duration{0}, length));
}

asio::awaitable<void> succession::reign(dice d) {
    for (;;) {
        co_await pause(d.between(duration{1}, 2 * plan_.fate.failovers));
        if (over())
            co_return;
        co_await succeed(d);
    }
}

asio::awaitable<void> succession::succeed(dice& d) {
    const replica_set::trouble lasts{all_};
    if (!plan_.fate.in_order)
        co_await neglect_replicas(d);
    const int next = over() ? -1 : choose(d);
    if (next < 0) {
        attend_replicas();
        co_return co_await pause(until_sent_all());
    }
    const fate how =
        plan_.fate.in_order
            ? fate::is_told
            : d.one_of({fate::dies, fate::stands_still, fate::is_cut_off, fate::is_told});
    const int old = all_.primary();
    co_await hand_over(d, how, next);
    if (over())
        co_return;
    for (int machine = 0; machine < all_.machines(); ++machine)
        if (machine != old && machine != next)
            world_.play(follow(d.split(), machine));
    co_await old_one_learns(d.split(), how, old);
    co_await pause(until_sent_all());
}

duration succession::until_sent_all() const {
    return 4 * plan_.how.replicas.lag + duration{20};
}

/// Makes all replicas follow the primary again, because none of them will be promoted now.
void succession::attend_replicas() {
    for (int machine = 0; machine < all_.machines(); ++machine)
        if (!over() && machine != all_.primary() && !all_.is_old_primary(machine))
            all_.demote(machine);
}

/// Before a failover, cuts some replicas off or makes them fall behind.
asio::awaitable<void> succession::neglect_replicas(dice& d) {
    for (int machine = 0; machine < all_.machines(); ++machine) {
        if (machine == all_.primary() || all_.is_old_primary(machine) || !d.percent(60))
            continue;
        if (d.percent(60))
            all_.cut(machine);
        else
            all_.slow_down(machine, d.between(duration{1}, duration{600}));
    }
    const duration longest = d.one_of<duration>({duration{0}, duration{60}, duration{600}});
    co_await pause(d.between(duration{0}, longest));
}

asio::awaitable<void> succession::hand_over(dice& d, fate how, int next) {
    const int old = all_.primary();
    if (how == fate::dies || how == fate::stands_still)
        all_.stop(old);
    if (how == fate::is_cut_off)
        for (int machine = 0; machine < all_.machines(); ++machine)
            if (machine != old && d.percent(80))
                all_.cut(machine);
    if (d.percent(15))
        all_.announce(next); // announce the new primary too early
    const bool is_quick = how == fate::is_told;
    co_await pause(d.between(duration{1}, is_quick ? duration{40} : duration{1500}));
    if (over())
        co_return;
    all_.promote(next);
    if (is_quick)
        all_.demote(old);
}

asio::awaitable<void> succession::old_one_learns(dice d, fate how, int old) {
    if (how == fate::is_told)
        co_return;
    if (how == fate::stands_still) {
        co_await pause(d.between(duration{1}, duration{1500}));
        if (over())
            co_return;
        all_.resume(old);
    }
    const bool dies = how == fate::dies;
    co_await pause(d.between(duration{10}, dies ? 2 * plan_.how.lease_time : duration{2000}));
    if (over())
        co_return;
    all_.demote(old);
    if (!dies)
        co_return;
    if (plan_.fate.comes_back_empty && d.percent(50))
        all_.restart_empty(old);
    all_.resume(old);
}

asio::awaitable<void> succession::follow(dice d, int machine) {
    const replica_set::trouble lasts{all_};
    co_await pause(d.between(duration{0}, duration{1000}));
    if (over() || all_.primary() == machine || all_.is_old_primary(machine))
        co_return;
    all_.demote(machine);
    co_await pause(until_sent_all());
}

/// Chooses the next primary among the running machines: any of them, or the one with the most data,
/// as real servers do.
int succession::choose(dice& d) const {
    std::vector<int> can;
    for (int machine = 0; machine < all_.machines(); ++machine) {
        const bool may_be_empty = plan_.fate.promotes_empty || !all_.is_empty(machine);
        if (machine != all_.primary() && !all_.is_old_primary(machine) &&
            !all_.stands_still(machine) && may_be_empty)
            can.push_back(machine);
    }
    if (can.empty())
        return -1;
    if (!plan_.fate.promotes_best)
        return can[d.below(can.size())];
    return *std::ranges::max_element(
        can, {}, [this](int machine) { return all_.received(machine).value_or(0); });
}

asio::awaitable<void> succession::disturb(dice d) {
    for (;;) {
        co_await pause(d.between(duration{1}, 2 * plan_.fate.replicas));
        if (over())
            co_return;
        const int machine = d.between(0, all_.machines() - 1);
        if (machine != all_.primary() && !all_.is_old_primary(machine) &&
            !all_.stands_still(machine))
            co_await disturb_one(d, machine);
    }
}

asio::awaitable<void> succession::disturb_one(dice& d, int replica) {
    const replica_set::trouble lasts{all_};
    switch (d.between(0, plan_.fate.comes_back_empty ? 2 : 1)) {
    case 0:
        all_.stop(replica);
        co_await pause(d.between(duration{1}, plan_.how.lease_time));
        all_.resume(replica);
        break;
    case 1:
        all_.slow_down(replica, d.between(duration{1}, duration{300}));
        co_await pause(d.between(duration{1}, plan_.how.lease_time));
        all_.slow_down(replica, plan_.how.replicas.lag);
        break;
    default:
        all_.restart_empty(replica);
    }
    co_await pause(duration{1300}); // slow requests may still be in flight
}

} // namespace holdfast::sim
