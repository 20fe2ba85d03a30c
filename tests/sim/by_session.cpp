// SPDX-License-Identifier: Apache-2.0
// Worlds of locks in which a hold lasts as long as a session, which is much shorter than the
// leases, or longer. A request that is too late must be recognized, and no request may have its
// effect twice. While the client lives, only a release ends a hold on the server.
#include "sim/by_session.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t plans_by_session = 0x73657373, permits_by_session = 0x7065726d;
constexpr duration session_least = milliseconds{500};

/// Makes leases of many lengths that are not renewed. Other holds keep the session alive.
void draw_fixed(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people.fixed = d.one_of({40, 80});
    p.people.outlasts = d.one_of({0, 50});
    p.people.extends = d.one_of({0, 30});
    p.people.holds = p.how.lease_longest;
    p.names = std::max(p.names, 2);
}

/// Denies access to a name for some time. The lock of this name cannot be released then, and the
/// locks of other names keep the session alive.
void draw_denied(dice& d, plan& p) {
    draw_fixed(d, p);
    p.fate.missing_permissions = seconds{d.between(1, 4)};
    p.people.holds = p.how.lease_time;
    p.people.pause = milliseconds{5};
    p.names = 4;
    p.actors = 3;
}

/// Makes many actors take one lock for a short time each. Some actors ask for a long lease, others
/// for a short lease.
void draw_heirs(dice& d, plan& p) {
    p.usual = {.latency = d.one_of<duration>({milliseconds{2}, milliseconds{20}})};
    p.fate = {};
    p.people = {.own_lease = 70, .pause = milliseconds{5}, .holds = milliseconds{30}};
    p.people.timeout = 2 * p.how.lease_time;
    p.how.hand_off = {.times_max = 1000, .within = 4 * p.how.lease_time};
    p.actors = 3;
    p.names = 1;
}

/// Makes the names semaphores with held permits.
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
    if (dice more{seed ^ permits_by_session}; more.percent(20)) // a later feature
        draw_permits(more, p);
    p.usual.doubled = 0;
    p.fate.steps = false;
    p.fate.rate = std::clamp(p.fate.rate, 0.99, 1.01);
    const duration lease = p.how.lease_time;
    p.how.session_time =
        std::max(d.one_of<duration>({lease / 4, lease / 2, lease, 3 * lease}), session_least);
    return p;
}

} // namespace holdfast::sim
