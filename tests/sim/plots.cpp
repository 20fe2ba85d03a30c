// SPDX-License-Identifier: Apache-2.0
#include "sim/plots.hpp"

#include <algorithm>
#include <array>

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Makes holders keep their locks, and removes all faults. Only faults that the plot adds can then
/// cause the loss of a lock.
void quiet_holders(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people = {.timed = 40, .outlasts = 60, .pause = milliseconds{200}, .holds = p.how.lease_time};
    p.people.timeout = 2 * p.how.lease_time;
    p.how.max_hold.reset();
}

/// Makes many actors take one lock for a short time each, so that the lock is handed over often.
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
    p.clients = 2; // two clients that can hold several locks each, so that renewals share requests
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

/// Makes half of the owners ask for leases of twice the usual length. The server forgets locks.
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

/// Makes the server carry out requests at the end of a lease, and loses their replies.
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

/// Makes a round trip take a large part of the lease. There are no other faults.
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
