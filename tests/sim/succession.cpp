// SPDX-License-Identifier: Apache-2.0
#include "sim/succession.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::sim {

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

/// Sleeps for this time, but at most until the end of the phase.
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

/// Makes all replicas follow the primary again, if no failover will happen.
void succession::attend_replicas() {
    for (int machine = 0; machine < all_.machines(); ++machine)
        if (!over() && machine != all_.primary() && !all_.is_old_primary(machine))
            all_.demote(machine);
}

/// Cuts some replicas off or makes them fall behind, before the failover.
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

/// Chooses the next primary. It is any replica, or the replica with the most data, which real
/// servers choose. Never chooses a stopped machine.
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
    co_await pause(duration{1300}); // requests in flight stay slow for a while
}

} // namespace holdfast::sim
