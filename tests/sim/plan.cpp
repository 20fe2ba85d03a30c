// SPDX-License-Identifier: Apache-2.0
// Each seed has only some kinds of faults, and these are frequent (swarm testing). So rare
// combinations of faults occur, which a mixture of all faults would hardly produce.
#include "sim/plan.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

rules draw_rules(dice& d) {
    rules r;
    r.lease_time = d.one_of<duration>({milliseconds{900}, seconds{2}, seconds{6}, seconds{20}});
    r.command_timeout = d.one_of<duration>({milliseconds{200}, milliseconds{800}, seconds{2}});
    r.poll_bound = d.one_of<duration>({milliseconds{500}, seconds{2}, seconds{5}});
    r.unavailable_timeout = d.one_of<duration>({seconds{1}, seconds{4}, seconds{10}});
    r.release_timeout = d.one_of<duration>({milliseconds{300}, seconds{2}});
    r.close_timeout = d.one_of<duration>({milliseconds{100}, seconds{2}});
    r.release_on_close = d.percent(20);
    if (d.percent(10))
        r.max_hold = r.lease_time * d.between(1, 3);
    if (d.percent(10))
        r.waiters_max = 1;
    r.lease_longest = 2 * r.lease_time;
    r.hand_off.times_max = d.one_of({0U, 2U, 1000U});
    r.hand_off.within = d.one_of<duration>({milliseconds{20}, seconds{1}, 4 * r.lease_time});
    return r;
}

weather draw_weather(dice& d, const rules& r) {
    weather w;
    w.latency = d.one_of<duration>({milliseconds{0}, milliseconds{2}, milliseconds{20}});
    // From just after the timeout to long after all callers have given up.
    w.slowness = r.command_timeout * d.between(1, 4) / 2;
    constexpr std::array<int weather::*, 8> faults{
        &weather::refused,     &weather::lost,   &weather::answer_lost, &weather::slow,
        &weather::slow_answer, &weather::broken, &weather::doubled,     &weather::deaf};
    if (d.percent(15))
        return w; // no faults
    for (int weather::*fault : faults)
        if (d.percent(30))
            w.*fault = d.one_of({2, 10, 30});
    return w;
}

habits draw_habits(dice& d, const rules& r) {
    habits h;
    h.recursive = d.one_of({0, 30, 100});
    h.fixed = d.one_of({0, 30, 80});
    h.impatient = d.one_of({0, 20});
    h.timed = d.one_of({0, 40, 100});
    h.cancels = d.one_of({0, 10, 40});
    h.drops = d.one_of({0, 20});
    h.outlasts = d.one_of({0, 10, 30});
    h.extends = d.one_of({0, 15});
    h.asks = d.one_of({0, 10});
    h.re_enters = d.one_of({0, 25});
    h.forces = d.percent(15) ? 5 : 0;
    h.reacts = d.one_of({0, 30});
    h.throws_away = d.one_of({0, 10});
    h.pause = d.one_of<duration>({milliseconds{5}, milliseconds{200}, seconds{2}});
    h.holds = d.one_of<duration>({milliseconds{2}, milliseconds{300}, r.lease_time});
    h.timeout = d.one_of<duration>({milliseconds{50}, seconds{1}, 2 * r.lease_time});
    return h;
}

mishaps draw_mishaps(dice& d, const rules& r) {
    mishaps m;
    if (d.percent(30)) {
        m.cuts = seconds{d.between(2, 15)};
        m.cut_lasts = d.one_of<duration>({milliseconds{500}, r.lease_time, 2 * r.lease_time});
    }
    if (d.percent(25))
        m.closes = seconds{d.between(2, 15)};
    if (d.percent(25))
        m.foreigners = seconds{d.between(1, 8)};
    // Half of the servers keep their data, and their clocks are right.
    if (d.percent(50)) {
        m.rate = d.one_of({1.0, 0.99, 0.995, 1.005, 1.01});
        return m;
    }
    m.server = seconds{d.between(2, 20)};
    m.rude_foreigners = d.percent(30);
    m.restarts = d.percent(30);
    m.evicts = d.percent(40);
    m.steps = d.percent(40);
    m.rate = d.one_of({1.0, 1.0, 0.95, 1.05});
    return m;
}

/// In some seeds, makes the locks read-write locks.
void draw_sharing(dice d, plan& p) {
    p.shared = d.percent(25);
    if (!p.shared)
        return;
    p.people.reads = d.one_of({30, 60, 90});
    p.people.upgrades = d.one_of({0, 20, 60});
    p.people.downgrades = d.one_of({0, 30});
    if (d.percent(50)) // fewer names cause more contention
        p.names = 1;
    if (d.percent(50)) {
        p.usual = {.latency = p.usual.latency};
        p.fate = {};
        p.actors = 3;
    }
}

/// Draws the kind of each lock.
void draw_kinds(dice d, plan& p) {
    p.kinds.assign(static_cast<std::size_t>(p.names), lock_kind::plain);
    if (d.percent(60))
        return;
    for (lock_kind& kind : p.kinds)
        kind = d.one_of({lock_kind::fenced, lock_kind::spin, lock_kind::plain});
    p.tokens = d.one_of({fencing::counted, fencing::dated});
}

/// Makes some locks token locks, which other programs also take and release, without notifications.
void draw_tokens(dice d, plan& p) {
    if (p.shared || !d.percent(20))
        return;
    for (lock_kind& kind : p.kinds)
        if (d.percent(70))
            kind = lock_kind::token;
    if (d.percent(60)) { // no other faults, so the checkers expect quick waiters
        p.usual = {.latency = p.usual.latency};
        p.fate = {};
        p.people.timed = 0;
        p.people.timeout = 2 * p.how.lease_time;
        p.how.poll_bound = d.one_of<duration>({seconds{2}, seconds{5}});
    }
    p.fate.foreigners = milliseconds{d.one_of({300, 2000})};
}

/// In some seeds, makes most names counters instead of locks.
void draw_counters(dice d, plan& p) {
    if (!d.percent(12))
        return;
    p.shared = false;
    p.fair = 0;
    p.fate.strangers = {};
    for (int name = 0; name < p.names; ++name) {
        const auto kind = d.one_of({counter_kind::semaphore, counter_kind::latch});
        p.counters.push_back(d.percent(90) ? std::optional{kind} : std::nullopt);
    }
    dice more{p.seed ^ 0x6c6561736564}; // own dice, for a newer feature
    for (std::optional<counter_kind>& kind : p.counters)
        if (kind && more.percent(50))
            kind = more.one_of({counter_kind::permits, counter_kind::permits, counter_kind::rate});
    p.people.amount = d.one_of({1, 3});
    p.people.drains = d.one_of({0, 10});
    p.people.adds = d.one_of({5, 20});
    p.people.sets = d.one_of({5, 60});
    p.actors = std::max(p.actors, 2);
    if (d.percent(40)) {
        leave_in_peace(d, p);
    } else if (d.percent(40)) { // many requests are sent twice, and replies are slow
        p.usual.answer_lost = p.usual.doubled = p.usual.slow_answer = 20;
        p.usual.slowness = p.how.command_timeout;
    }
}

const char* spelled(lock_kind kind) {
    switch (kind) {
    case lock_kind::plain:
        return "plain";
    case lock_kind::spin:
        return "spin";
    case lock_kind::fenced:
        return "fenced";
    case lock_kind::token:
        return "token";
    default:
        return "of a kind that no simulation has";
    }
}

const char* spelled(counter_kind kind) {
    switch (kind) {
    case counter_kind::semaphore:
        return " semaphore";
    case counter_kind::permits:
        return " permits";
    case counter_kind::latch:
        return " latch";
    case counter_kind::rate:
        return " rate";
    }
    return " of a kind that no simulation has";
}

std::ostream& operator<<(std::ostream& out, const replication& r) {
    out << "REPLICAS " << r.count << ", required by name:";
    for (const std::vector<unsigned>& some : r.wants)
        for (const unsigned each : some)
            out << (&each == some.data() ? " " : "|") << each;
    out << ", lag " << r.lag.count() << ", clocks";
    for (const duration each : r.clocks)
        out << ' ' << each.count();
    return out << (r.clocks_agree ? " (they agree)" : "") << (r.is_told ? "" : ", news are slow");
}

} // namespace

plan draw_plan(std::uint64_t seed) {
    dice d{seed};
    plan p{.seed = seed, .how = draw_rules(d), .usual = {}, .people = {}, .fate = {}};
    p.usual = draw_weather(d, p.how);
    p.people = draw_habits(d, p.how);
    p.fate = draw_mishaps(d, p.how);
    p.clients = d.between(2, 4);
    p.actors = d.between(1, 3);
    p.names = d.one_of({1, 1, 2, 3});
    // own dice, so that most old seeds keep their meaning
    const bool has_plot = draw_more(dice{~seed}, p);
    draw_sharing(dice{seed ^ 0x5ead5}, p);
    draw_kinds(dice{seed ^ 0x6b696e6473}, p);
    draw_tokens(dice{seed ^ 0x746f6b656e}, p);
    if (!has_plot && !p.shared)
        draw_families(dice{seed ^ 0x5bd1e995}, p);
    draw_counters(dice{seed ^ 0x616d6f756e74}, p);
    p.how.fair = p.fair;
    p.how.counters = p.counters;
    p.how.kinds = p.kinds;
    // The more often the programs act, the shorter is the simulated time, so that each seed takes
    // about as long.
    const duration deed = p.people.pause + p.people.holds / p.clients + milliseconds{5};
    p.safety_phase = std::clamp<duration>(deed * 40, seconds{4}, seconds{60});
    return p;
}

void keep_locks_only(plan& p) {
    p.counters.clear();
    p.how.counters.clear();
    p.kinds.resize(static_cast<std::size_t>(p.names), lock_kind::plain);
    p.how.kinds = p.kinds;
    p.how.fair = p.fair = std::min(p.fair, p.names);
}

void leave_in_peace(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people.holds = std::min<duration>(p.people.holds, milliseconds{300});
}

std::ostream& operator<<(std::ostream& out, const plan& p) {
    const auto ms = [](duration x) { return x.count(); };
    out << p.clients << " clients of " << p.actors << " actors, " << p.names << " names, "
        << ms(p.safety_phase) << " ms\nlease " << ms(p.how.lease_time) << ", command timeout "
        << ms(p.how.command_timeout) << ", poll bound " << ms(p.how.poll_bound)
        << ", unavailable timeout " << ms(p.how.unavailable_timeout) << ", release timeout "
        << ms(p.how.release_timeout) << ", close timeout " << ms(p.how.close_timeout);
    if (p.how.max_hold)
        out << ", max hold " << ms(*p.how.max_hold);
    if (p.shared)
        out << "; SHARED, reads " << p.people.reads << ", upgrades " << p.people.upgrades
            << ", downgrades " << p.people.downgrades;
    out << ", hand-off " << p.how.hand_off.times_max << " times within "
        << ms(p.how.hand_off.within);
    out << "\nof 100 requests: refused " << p.usual.refused << ", lost " << p.usual.lost
        << ", answer lost " << p.usual.answer_lost << ", slow " << p.usual.slow << ", answer slow "
        << p.usual.slow_answer << " (by up to " << ms(p.usual.slowness) << " ms), broken "
        << p.usual.broken << ", doubled " << p.usual.doubled << ", wake-up lost " << p.usual.deaf
        << "; latency " << ms(p.usual.latency) << "\npauses between: cuts " << ms(p.fate.cuts)
        << " (up to " << ms(p.fate.cut_lasts) << " ms), closes " << ms(p.fate.closes)
        << ", foreigners " << ms(p.fate.foreigners) << ", server's troubles " << ms(p.fate.server)
        << "; its clock's rate " << p.fate.rate << "\nlongest lease " << ms(p.how.lease_longest)
        << ", no room " << p.usual.no_room << ", handlers throw " << p.people.blunders
        << ", forces " << p.people.forces << "; silences " << ms(p.fate.silences) << " (up to "
        << ms(p.fate.silence_lasts) << " ms), denials " << ms(p.fate.missing_permissions)
        << "; fair names " << p.fair << ", strangers " << ms(p.fate.strangers) << "\nother locks:";
    for (const lock_kind kind : p.kinds)
        out << ' ' << spelled(kind);
    out << "; counters:";
    for (const std::optional<counter_kind>& kind : p.counters)
        out << (kind ? spelled(*kind) : " none");
    out << (p.tokens == fencing::dated ? ", dated tokens\n" : "\n");
    if (p.how.by_session())
        out << "SESSIONS of " << ms(p.how.session_time) << " ms\n";
    if (p.how.replicas.count > 0)
        out << p.how.replicas << "; pauses between: failovers " << ms(p.fate.failovers)
            << ", troubles of replicas " << ms(p.fate.replicas)
            << (p.fate.promotes_best ? "; the best is promoted" : "; any is promoted")
            << (p.fate.comes_back_empty ? ", some come back empty\n" : "\n");
    return out;
}

namespace {

/// Removes all faults, and makes holders keep their locks for long. The caller then adds the faults
/// that it needs.
void quiet_holders(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people = {.timed = 40, .outlasts = 60, .pause = milliseconds{200}, .holds = p.how.lease_time};
    p.people.timeout = 2 * p.how.lease_time;
    p.how.max_hold.reset();
}

/// Makes many callers take one lock for a short time each, so that a client often hands it over to
/// the next.
void busy_hands(dice& d, plan& p) {
    quiet_holders(d, p);
    p.people.outlasts = 0;
    p.people.holds = milliseconds{30};
    p.people.pause = milliseconds{5};
    p.usual.latency = milliseconds{20};
    p.how.hand_off = {.times_max = 1000, .within = 4 * p.how.lease_time};
    p.clients = 2;
    p.actors = 3;
    p.names = 1;
}

void one_name_is_denied(dice& d, plan& p) {
    quiet_holders(d, p);
    p.fate.missing_permissions = seconds{d.between(1, 4)};
    p.people.pause = milliseconds{5};
    p.people.timed = 0;
    p.clients = 2; // few clients hold several locks each, so that they renew them together
    p.actors = 6;
    p.names = 8;
}

void connections_die_silently(dice& d, plan& p) {
    p.how.lease_time = d.one_of<duration>({milliseconds{900}, seconds{2}, seconds{5}, seconds{9}});
    p.how.lease_longest = 2 * p.how.lease_time;
    p.how.command_timeout = d.one_of<duration>({seconds{2}, seconds{3}});
    quiet_holders(d, p);
    p.fate.silences = seconds{d.between(2, 6)};
    p.fate.silence_lasts = 2 * p.how.lease_time;
}

void no_room(dice& d, plan& p) {
    p.usual = {.no_room = d.one_of({5, 30}), .latency = p.usual.latency};
}

void handlers_throw(dice& d, plan& p) {
    p.people.blunders = d.one_of({5, 30});
}

void forced_in_flight(dice& d, plan& p) {
    busy_hands(d, p);
    p.people.forces = 15;
}

void extended_in_flight(dice& d, plan& p) {
    busy_hands(d, p);
    p.people.extends = 50;
    p.fate.server = seconds{1};
    p.fate.evicts = true;
}

/// Makes half of the callers ask for leases of twice the usual length, on a server that forgets
/// locks.
void unequal_heirs(dice& d, plan& p) {
    p.how.command_timeout = milliseconds{200};
    quiet_holders(d, p);
    p.people.own_lease = 70;
    p.people.timed = 0;
    p.how.hand_off = {.times_max = 1000, .within = 4 * p.how.lease_time};
    p.fate.server = seconds{1};
    p.fate.evicts = true;
    p.actors = 3;
    p.names = 1;
}

void long_leases(dice&, plan& p) {
    p.how.lease_longest = 30 * p.how.lease_time;
}

void fixed_and_then_renewed(dice& d, plan& p) {
    quiet_holders(d, p);
    p.people.fixed = 80;
    p.people.recursive = 100;
    p.people.renews = 50;
}

void restarts_in_flight(dice& d, plan& p) {
    p.how.lease_time = milliseconds{900};
    p.how.lease_longest = 2 * p.how.lease_time;
    quiet_holders(d, p);
    p.usual.latency = milliseconds{50};
    p.people.pause = milliseconds{5};
    p.fate.server = milliseconds{300};
    p.fate.restarts = true;
    p.names = 3;
}

/// Makes the server execute extensions at the end of a lease, and loses their replies.
void late_extensions(dice& d, plan& p) {
    p.how.command_timeout = milliseconds{200};
    p.how.lease_time = milliseconds{1200};
    p.how.lease_longest = seconds{4};
    quiet_holders(d, p);
    p.usual.answer_lost = 50;
    p.usual.lost = 40;
    p.people.fixed = 100;
    p.people.outlasts = 0;
    p.people.holds = p.how.lease_longest;
    p.people.pause = milliseconds{5};
    p.clients = 4;
    p.actors = 3;
    p.names = 8;
    p.people.extends = 100;
}

/// Makes a round trip take a large part of the lease, without faults.
void far_server(dice& d, plan& p) {
    p.how.lease_time = d.one_of<duration>({milliseconds{1500}, seconds{3}, seconds{6}});
    p.how.lease_longest = 2 * p.how.lease_time;
    p.how.command_timeout = p.how.lease_time;
    p.how.release_timeout = p.how.lease_time;
    quiet_holders(d, p);
    p.usual.latency = p.how.lease_time / d.one_of({5, 10});
    p.people.outlasts = 80;
}

constexpr std::array plots{
    one_name_is_denied,     connections_die_silently, no_room,         handlers_throw,
    forced_in_flight,       extended_in_flight,       unequal_heirs,   long_leases,
    fixed_and_then_renewed, restarts_in_flight,       late_extensions, far_server};

void mixture(dice& d, plan& p) {
    const rules& r = p.how;
    if (d.percent(50))
        p.usual = {.latency = p.usual.latency};
    if (d.percent(50))
        p.fate = {.closes = p.fate.closes};
    if (d.percent(25))
        p.fate.missing_permissions = seconds{d.between(2, 8)};
    if (d.percent(25)) {
        p.fate.silences = seconds{d.between(2, 10)};
        p.fate.silence_lasts = 2 * std::max(r.command_timeout, r.lease_time);
    }
    if (d.percent(25))
        p.usual.no_room = d.one_of({5, 30});
    if (d.percent(25))
        p.people.blunders = d.one_of({5, 20});
    if (d.percent(25)) {
        p.people.forces = d.one_of({3, 10});
        p.people.extends = d.one_of({15, 50});
        p.how.hand_off = {.times_max = 1000, .within = 4 * r.lease_time};
    }
    if (d.percent(15))
        p.people.renews = 25;
    if (d.percent(15))
        p.how.lease_longest = 30 * r.lease_time;
    if (d.percent(20))
        p.how.lease_time = d.one_of<duration>({seconds{5}, seconds{9}});
    p.how.lease_longest = std::max(p.how.lease_longest, 2 * p.how.lease_time);
    if (d.percent(20))
        p.how.command_timeout = seconds{3};
}

} // namespace

bool draw_more(dice d, plan& p) {
    const int kind = d.between(0, 99);
    if (kind >= 60)
        plots[d.below(plots.size())](d, p);
    else if (kind >= 40)
        mixture(d, p);
    return kind >= 60;
}

void draw_families(dice d, plan& p) {
    if (!d.percent(40))
        return;
    p.fair = d.between(1, p.names);
    if (d.percent(40)) { // many waiters with short timeouts
        quiet_holders(d, p);
        p.people.timed = d.one_of({0, 60});
        p.people.cancels = d.one_of({0, 20});
        p.how.unavailable_timeout = seconds{1};
        p.how.poll_bound = milliseconds{500};
        p.fate.cuts = d.one_of<duration>({duration{0}, seconds{4}});
        p.fate.cut_lasts = d.one_of<duration>({milliseconds{300}, seconds{8}});
        p.clients = 3;
        p.actors = 3;
    }
    if (d.percent(40))
        p.fate.strangers = milliseconds{d.one_of({500, 3000})};
}

} // namespace holdfast::sim
