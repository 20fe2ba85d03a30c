// SPDX-License-Identifier: Apache-2.0
#include "sim/several/script.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace holdfast::sim::several {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

rules draw_rules_of_several(dice& d) {
    rules r;
    r.lease_time = d.one_of<duration>({milliseconds{900}, seconds{2}, seconds{6}});
    r.lease_longest = 2 * r.lease_time;
    r.command_timeout = d.one_of<duration>({milliseconds{200}, milliseconds{800}, seconds{2}});
    r.poll_bound = d.one_of<duration>({milliseconds{500}, seconds{2}});
    r.unavailable_timeout = d.one_of<duration>({seconds{1}, seconds{4}});
    r.release_timeout = d.one_of<duration>({milliseconds{300}, seconds{2}});
    r.close_timeout = d.one_of<duration>({milliseconds{100}, seconds{2}});
    r.release_on_close = d.percent(20);
    r.hand_off.times_max = d.one_of({0U, 2U, 1000U});
    r.hand_off.within = d.one_of<duration>({milliseconds{20}, seconds{1}});
    return r;
}

weather draw_weather_of_several(dice& d, const rules& r) {
    weather w;
    w.latency = d.one_of<duration>({milliseconds{0}, milliseconds{2}, milliseconds{20}});
    w.slowness = r.command_timeout * d.between(1, 4) / 2;
    if (d.percent(40))
        return w; // no faults
    constexpr std::array<int weather::*, 8> faults{
        &weather::refused,     &weather::lost,   &weather::answer_lost, &weather::slow,
        &weather::slow_answer, &weather::broken, &weather::doubled,     &weather::deaf};
    for (int weather::*fault : faults)
        if (d.percent(30))
            w.*fault = d.one_of({2, 10, 30});
    return w;
}

manners draw_manners(dice& d, const rules& r, bool is_quorum) {
    manners h;
    h.single = is_quorum ? d.one_of({0, 0, 10}) : d.one_of({0, 30, 60});
    h.any = is_quorum ? 0 : d.one_of({0, 10, 30});
    h.fixed = d.one_of({0, 30, 80});
    h.impatient = d.one_of({0, 20});
    h.timed = d.one_of({0, 40, 100});
    h.cancels = d.one_of({0, 10, 40});
    h.drops = d.one_of({0, 20});
    h.outlasts = d.one_of({0, 10, 30});
    h.extends = d.one_of({0, 15});
    h.asks = d.one_of({0, 10});
    h.re_enters = d.one_of({0, 20});
    h.forces = d.percent(15) ? 5 : 0;
    h.pause = d.one_of<duration>({milliseconds{5}, milliseconds{200}, seconds{2}});
    h.holds = d.one_of<duration>({milliseconds{2}, milliseconds{300}, r.lease_time});
    h.timeout = d.one_of<duration>({milliseconds{50}, seconds{1}, 2 * r.lease_time});
    return h;
}

trials draw_trials(dice& d, const rules& r, int servers) {
    trials t;
    if (d.percent(40)) {
        t.cuts = seconds{d.between(1, 8)};
        t.cut_lasts = d.one_of<duration>({milliseconds{500}, r.lease_time, 2 * r.lease_time});
    }
    if (d.percent(25))
        t.closes = seconds{d.between(2, 10)};
    if (d.percent(25))
        t.foreigners = seconds{d.between(1, 6)};
    if (d.percent(40))
        t.restarts = seconds{d.between(1, 10)};
    if (d.percent(25))
        t.slow_node = d.between(0, servers - 1);
    t.rates = d.percent(25);
    if (d.percent(70))
        return t; // only faults that a quorum must survive
    t.rude_foreigners = d.percent(30);
    if (d.percent(50))
        t.evictions = seconds{d.between(1, 8)};
    if (d.percent(50))
        t.steps = seconds{d.between(2, 10)};
    return t;
}

} // namespace

script draw_script(std::uint64_t seed, bool is_quorum) {
    dice d{seed ^ (is_quorum ? 0x71756f72756dU : 0x746f67657468U)};
    script s{.seed = seed, .ways = {}, .usual = {}, .people = {}, .fate = {}};
    s.ways.how = draw_rules_of_several(d);
    s.ways.is_quorum = is_quorum;
    s.ways.is_serial = d.percent(50);
    s.servers = is_quorum ? d.one_of({3, 3, 5}) : d.one_of({1, 1, 2});
    s.names = is_quorum ? d.one_of({1, 1, 2}) : d.between(s.servers == 1 ? 2 : 1, 4);
    s.usual = draw_weather_of_several(d, s.ways.how);
    s.people = draw_manners(d, s.ways.how, is_quorum);
    s.fate = draw_trials(d, s.ways.how, s.servers);
    s.programs = d.between(2, 3);
    s.actors = d.between(1, 3);
    s.ways.node_timeout =
        d.one_of<duration>({milliseconds{50}, s.ways.how.lease_time / 4, milliseconds{60}});
    s.kinds.assign(static_cast<std::size_t>(s.names), lock_kind::plain);
    if (!is_quorum && d.percent(40))
        for (lock_kind& kind : s.kinds)
            kind = d.one_of({lock_kind::plain, lock_kind::fenced, lock_kind::spin});
    const duration deed = s.people.pause + s.people.holds / s.programs + milliseconds{20};
    s.safety_phase = std::clamp<duration>(deed * 30, seconds{4}, seconds{40});
    return s;
}

std::ostream& operator<<(std::ostream& out, const script& s) {
    const auto ms = [](duration x) { return x.count(); };
    const rules& r = s.ways.how;
    out << s.servers << " servers, " << s.programs << " programs of " << s.actors << " actors, "
        << s.names << " names, " << ms(s.safety_phase) << " ms"
        << (s.ways.is_serial ? ", a serial executor" : "") << "\nlease " << ms(r.lease_time)
        << ", command timeout " << ms(r.command_timeout) << ", poll bound " << ms(r.poll_bound)
        << ", unavailable timeout " << ms(r.unavailable_timeout) << ", release timeout "
        << ms(r.release_timeout) << ", node timeout " << ms(s.ways.node_timeout) << ", latency "
        << ms(s.usual.latency) << ", slowness " << ms(s.usual.slowness) << "\npauses between: cuts "
        << ms(s.fate.cuts) << " (up to " << ms(s.fate.cut_lasts) << " ms), closes "
        << ms(s.fate.closes) << ", foreigners " << ms(s.fate.foreigners) << ", restarts "
        << ms(s.fate.restarts) << ", evictions " << ms(s.fate.evictions) << ", steps "
        << ms(s.fate.steps) << "; slow: server " << s.fate.slow_node << "\n";
    return out;
}

} // namespace holdfast::sim::several
