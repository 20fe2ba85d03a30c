// SPDX-License-Identifier: Apache-2.0
#include "sim/plans_by_kind.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace holdfast::sim {
namespace {

// Simulations in which a hold lasts as long as its client's session, as on ZooKeeper. Leases are
// longer or shorter than the session timeout. While the client lives, only a release ends its hold
// on the server.

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t plans_by_session = 0x73657373, permits_by_session = 0x7065726d;
constexpr duration session_least = milliseconds{500};

/// Uses leases of many lengths that are not renewed, while other holds keep the session alive.
void draw_fixed(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people.fixed = d.one_of({40, 80});
    p.people.outlasts = d.one_of({0, 50});
    p.people.extends = d.one_of({0, 30});
    p.people.holds = p.how.lease_longest;
    p.names = std::max(p.names, 2);
}

/// Denies access to a name for some time. Its lock cannot be released then, and the locks of other
/// names keep the session alive.
void draw_denied(dice& d, plan& p) {
    draw_fixed(d, p);
    p.fate.missing_permissions = seconds{d.between(1, 4)};
    p.people.holds = p.how.lease_time;
    p.people.pause = milliseconds{5};
    p.names = 4;
    p.actors = 3;
}

/// Makes many callers take one lock for a short time each, some with a long lease and some with a
/// short lease.
void draw_heirs(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people = {.own_lease = 70, .pause = milliseconds{5}, .holds = milliseconds{30}};
    p.people.timeout = 2 * p.how.lease_time;
    p.how.hand_off = {.times_max = 1000, .within = 4 * p.how.lease_time};
    p.actors = 3;
    p.names = 1;
}

/// Makes all names semaphores with leased permits.
void draw_permits(dice d, plan& p) {
    p.shared = false;
    p.how.fair = p.fair = 0;
    p.fate.strangers = {};
    p.counters.assign(static_cast<std::size_t>(p.names), counter_kind::permits);
    p.how.counters = p.counters;
    p.people.amount = d.one_of({1, 3});
    p.people.adds = d.one_of({5, 20});
    p.people.sets = d.one_of({5, 60});
    p.actors = std::max(p.actors, 2);
    if (d.percent(40))
        leave_in_peace(d, p);
}

} // namespace

plan draw_by_session(std::uint64_t seed) {
    plan p = draw_plan(seed ^ plans_by_session);
    dice d{seed ^ ~plans_by_session};
    p.seed = seed;
    const int kind = d.between(0, 99);
    if (kind < 25)
        draw_fixed(d, p);
    else if (kind < 40)
        draw_denied(d, p);
    else if (kind < 55)
        draw_heirs(d, p);
    keep_locks_only(p);
    if (dice more{seed ^ permits_by_session}; more.percent(20)) // own dice, for a newer feature
        draw_permits(more, p);
    p.usual.doubled = 0;
    p.fate.steps = false;
    p.fate.rate = std::clamp(p.fate.rate, 0.99, 1.01);
    const duration lease = p.how.lease_time;
    p.how.session_time =
        std::max(d.one_of<duration>({lease / 4, lease / 2, lease, 3 * lease}), session_least);
    return p;
}

namespace {

// Simulations with replicas and failovers, few other faults, and leases that are shorter than a
// failover takes.

constexpr std::uint64_t other_plans = 0x7265706c;

void draw_time(dice& d, plan& p) {
    rules& r = p.how;
    r.lease_time = d.one_of<duration>({milliseconds{900}, seconds{2}, seconds{3}});
    r.lease_longest = 2 * r.lease_time;
    r.command_timeout = d.one_of<duration>({milliseconds{300}, milliseconds{900}, seconds{2}});
    r.poll_bound = d.one_of<duration>({seconds{2}, seconds{5}, seconds{5}});
    r.hand_off.within = d.one_of<duration>({milliseconds{20}, seconds{1}, 4 * r.lease_time});
    if (r.max_hold)
        r.max_hold = 2 * r.lease_time;
    habits& h = p.people;
    h.pause = d.one_of<duration>({milliseconds{5}, milliseconds{50}, milliseconds{300}});
    h.holds = d.one_of<duration>({milliseconds{5}, milliseconds{300}, r.lease_time});
    h.timeout = d.one_of<duration>({seconds{1}, 2 * r.lease_time});
    h.outlasts = d.one_of({0, 20, 50});
    h.forces = 0;
    h.re_enters = d.one_of({0, 30});
    p.safety_phase = d.between(duration{seconds{5}}, duration{seconds{14}});
}

void draw_fate(dice& d, plan& p) {
    mishaps m{.cuts = p.fate.cuts,
              .cut_lasts = d.between(duration{100}, p.how.lease_time),
              .closes = p.fate.closes};
    if (d.percent(50)) { // only faults of the server
        p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
        m = {};
    } else if (d.percent(40)) { // slow requests
        p.usual.slow = d.one_of({10, 30});
        p.usual.slowness = p.how.command_timeout * d.between(1, 2);
        p.usual.answer_lost = d.one_of({0, 10});
    }
    // A special plan may have set a latency that is too long for this lease.
    p.usual.latency = std::min(p.usual.latency, p.how.lease_time / 5);
    m.failovers = d.one_of<duration>({milliseconds{1500}, seconds{3}, seconds{6}});
    m.promotes_best = d.percent(40);
    m.replicas = d.one_of<duration>({duration{0}, duration{0}, seconds{2}});
    p.fate = m;
}

/// Draws how many replicas the lock objects of one name require: none, some, all, or different
/// numbers.
std::vector<unsigned> draw_numbers(dice& d, unsigned all) {
    const int kind = d.between(0, 99);
    if (kind < 20)
        return {0};
    if (kind < 35)
        return {d.one_of({0U, all - 1})};
    if (kind < 70)
        return {all};
    std::vector<unsigned> some(all + 1);
    std::iota(some.begin(), some.end(), 0U);
    return some;
}

void draw_replicas(dice& d, plan& p) {
    replication& of = p.how.replicas;
    of.count = d.one_of({1, 1, 2});
    of.lag = d.one_of<duration>({milliseconds{0}, milliseconds{2}, milliseconds{20}});
    of.is_told = d.percent(75);
    for (int name = 0; name < p.names; ++name)
        of.wants.push_back(draw_numbers(d, static_cast<unsigned>(of.count)));
    // One percent of the shortest requested lease.
    const duration agreed = p.how.lease_time / 400;
    of.clocks_agree = d.percent(75);
    const duration apart =
        of.clocks_agree ? agreed : d.one_of<duration>({milliseconds{200}, seconds{30}});
    for (int machine = 0; machine <= of.count; ++machine)
        of.clocks.push_back(d.between(duration{0}, apart));
    // If all replicas must confirm a lock, a machine must not come back empty.
    const bool all_confirm = std::ranges::any_of(of.wants, [&](const auto& some) {
        return std::ranges::count(some, static_cast<unsigned>(of.count)) > 0;
    });
    p.fate.comes_back_empty = d.percent(25);
    p.fate.promotes_empty = !all_confirm;
}

/// By chance, makes local hand-overs frequent between callers that require different numbers of
/// replicas.
void draw_hands(dice& d, plan& p) {
    const auto is_mixed = [](const std::vector<unsigned>& some) { return some.size() > 1; };
    if (std::ranges::none_of(p.how.replicas.wants, is_mixed) || d.percent(30))
        return;
    p.clients = 2;
    p.actors = 3;
    p.how.hand_off = {.times_max = 1000, .within = 4 * p.how.lease_time};
    p.people.timed = 0;
    p.people.cancels = 0;
    p.people.pause = milliseconds{5};
    p.people.holds = d.one_of<duration>({milliseconds{30}, milliseconds{300}, p.how.lease_time});
    p.fate.closes = {};
}

/// Delays the first requests to each new primary, whose clock is far behind the clock of the old
/// primary.
void draw_late_looks(plan& p) {
    replication& of = p.how.replicas;
    for (int machine = 0; machine <= of.count; ++machine)
        of.clocks[static_cast<std::size_t>(machine)] = seconds{30} * (of.count - machine);
    of.clocks_agree = false;
    of.is_told = true;
    p.how.command_timeout = milliseconds{300};
    p.usual = {.slow = 60, .slowness = 3 * p.how.command_timeout, .latency = milliseconds{2}};
    p.people.timed = 100;
    p.people.impatient = 0;
    p.people.timeout = milliseconds{400};
    p.people.holds = milliseconds{5};
    p.fate = {.failovers = milliseconds{1500}, .promotes_empty = p.fate.promotes_empty};
}

/// Makes many callers wait for one lock during a failover, without other faults.
void draw_waiters(dice& d, plan& p) {
    p.how.lease_time = seconds{3};
    p.how.lease_longest = 2 * p.how.lease_time;
    p.how.poll_bound = seconds{5};
    p.how.hand_off = {.times_max = 0, .within = {}};
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.people = {.pause = milliseconds{5}, .holds = milliseconds{300}};
    p.fate = {.failovers = seconds{3}, .in_order = true};
    p.clients = 3;
    p.actors = 2;
}

} // namespace

plan draw_replicated(std::uint64_t seed) {
    plan p = draw_plan(seed ^ other_plans);
    dice d{seed ^ ~other_plans};
    p.seed = seed;
    p.names = std::min(p.names, 2);
    p.clients = std::min(p.clients, 3);
    p.actors = std::min(p.actors, 2);
    keep_locks_only(p);
    draw_time(d, p);
    draw_fate(d, p);
    draw_replicas(d, p);
    draw_hands(d, p);
    if (d.percent(20))
        draw_late_looks(p);
    else if (d.percent(15))
        draw_waiters(d, p);
    return p;
}

} // namespace holdfast::sim
