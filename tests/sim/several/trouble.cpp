// SPDX-License-Identifier: Apache-2.0
#include "sim/several/trouble.hpp"

#include <algorithm>

namespace holdfast::sim::several {

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

/// Replaces one or all clients of the program. This may happen at any moment.
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
