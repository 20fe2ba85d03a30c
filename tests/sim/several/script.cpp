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

trouble::trouble(realm& r, const script& s, time_point end)
    : realm_{r}
    , plan_{s}
    , end_{end} {}

void trouble::begin() {
    const trials& t = plan_.fate;
    for (std::deque<terminal>& program : realm_.programs) {
        for (terminal& each : program) {
            if (t.cuts > duration{})
                realm_.play(cut(each, realm_.chance.split()));
            if (each.server == t.slow_node) {
                weather slow = plan_.usual;
                slow.slow_answer = 60;
                each.net.set(slow);
            }
        }
        if (t.closes > duration{})
            realm_.play(replace(program.front().program, realm_.chance.split()));
    }
    if (t.foreigners > duration{})
        realm_.play(occupy(realm_.chance.split()));
    if (t.restarts > duration{})
        realm_.play(restart(realm_.chance.split()));
    if (t.evictions > duration{})
        realm_.play(evict(realm_.chance.split()));
    if (t.steps > duration{})
        realm_.play(step(realm_.chance.split()));
    for (int server = 0; server < realm_.servers() && t.rates; ++server)
        realm_.set_rate(server, realm_.chance.one_of({0.99, 0.995, 1.005, 1.01}));
}

void trouble::heal() {
    realm_.log.note({}, "ALL IS WELL from here on");
    for (std::deque<terminal>& program : realm_.programs)
        for (terminal& each : program) {
            each.net.mend();
            each.net.set({.latency = plan_.usual.latency});
        }
    for (int server = 0; server < realm_.servers(); ++server) {
        if (plan_.fate.rates)
            realm_.set_rate(server, 1);
        for (int name = 0; name < realm_.names(); ++name)
            realm_.vacate({server, name});
    }
}

asio::awaitable<void> trouble::pause(dice& d, duration usual) {
    const duration drawn = d.between(duration{1}, 2 * usual);
    return realm_.sleep(std::clamp(end_ - realm_.clock.now(), duration{0}, drawn));
}

asio::awaitable<void> trouble::cut(terminal& each, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.cuts);
        if (over())
            co_return;
        const bool refusing = d.percent(50);
        const subject who{.client = each.program, .server = each.server};
        realm_.log.note(who, refusing ? "CUT OFF, connections are refused"
                                      : "CUT OFF, all is swallowed");
        each.net.cut(refusing);
        co_await pause(d, plan_.fate.cut_lasts / 2);
        realm_.log.note(who, "reaches the server again");
        each.net.mend();
    }
}

/// Closes one or all clients of the program at random times, and starts new ones.
asio::awaitable<void> trouble::replace(int program, dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.closes);
        if (over())
            co_return;
        const bool all = d.percent(60), in_order = d.percent(70);
        const int first = all ? 0 : any_server(d);
        const int last = all ? realm_.servers() - 1 : first;
        for (int server = first; server <= last; ++server) {
            terminal& each = realm_.at(program, server);
            if (in_order) {
                co_await realm_.close(each);
            } else {
                realm_.log.note({.client = program, .server = server}, "is destroyed");
                realm_.close_began(each);
            }
            realm_.start_client(each); // destroys the old client
        }
    }
}

asio::awaitable<void> trouble::occupy(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.foreigners);
        if (over())
            co_return;
        const spot where = any_spot(d);
        if (!plan_.fate.rude_foreigners && !realm_.holder(where).empty())
            continue;
        realm_.occupy(where, d.between(duration{1}, realm_.how.lease_longest));
        co_await pause(d, realm_.how.lease_time / 4);
        if (d.percent(50))
            realm_.vacate(where);
    }
}

asio::awaitable<void> trouble::restart(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.restarts);
        if (over())
            co_return;
        const int server = any_server(d);
        realm_.restart_empty(server);
        if (d.percent(70))
            realm_.play(realm_.reconnect(server, d.between(duration{0}, duration{10})));
    }
}

asio::awaitable<void> trouble::evict(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.evictions);
        if (over())
            co_return;
        realm_.evict(any_spot(d));
    }
}

asio::awaitable<void> trouble::step(dice d) {
    for (;;) {
        co_await pause(d, plan_.fate.steps);
        if (over())
            co_return;
        const duration by = d.between(duration{1}, realm_.how.lease_longest);
        realm_.step_clock(any_server(d), d.percent(50) ? by : -by);
    }
}

} // namespace holdfast::sim::several
