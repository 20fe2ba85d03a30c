// SPDX-License-Identifier: Apache-2.0
#include "sim/several/realm.hpp"

#include "compose/composite_hold.hpp"
#include "sim/checkers/several.hpp"
#include "sync/engine.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <tuple>
#include <utility>

namespace holdfast::sim::several {

claim::claim(const deal& d, lease l, duration longest_asked)
    : how{d.how}
    , program{d.program}
    , actor{d.actor}
    , of{d.of}
    , generations{d.generations}
    , held{std::move(l)}
    , hold{held.hold().get()}
    , longest{longest_asked} {}

std::vector<share_of_claim> claim::shares() const {
    std::vector<share_of_claim> all;
    const auto* const joint = dynamic_cast<const compose::composite_hold*>(held.hold().get());
    if (!joint) {
        if (held.hold())
            all.push_back({of.front(), held.owner(), held.hold()->whole()});
        return all;
    }
    for (std::size_t which = 0; which < of.size(); ++which)
        if (std::shared_ptr<sync::lock_handle> one = joint->hold_of(which)) {
            std::string owner = one->owner();
            all.push_back({of[which], std::move(owner), std::move(one)});
        }
    return all;
}

realm::realm(std::uint64_t seed, customs c, int servers, int names)
    : ways{std::move(c)}
    , chance{seed}
    , names_{names}
    , sightings_(static_cast<std::size_t>(servers * names))
    , checks_{std::make_unique<audit>(*this)} {
    for (int s = 0; s < servers; ++s)
        nodes.emplace_back(clock);
}

realm::~realm() = default;

int realm::add_program(weather w) {
    const int number = static_cast<int>(programs.size());
    std::deque<terminal>& all = programs.emplace_back();
    for (int s = 0; s < servers(); ++s) {
        const auto told = [this, number, s](const memory::request& r, const memory::fate& f) {
            sent(at(number, s), r, f);
        };
        all.emplace_back(number, s, chance.split(),
                         network{clock, chance.split(), chance.split(), how.command_timeout, told});
        all.back().net.set(w);
        start_client(all.back());
    }
    return number;
}

void realm::start_client(terminal& to) {
    to.of_client = to.generation;
    options o;
    o.store = node_at(to.server).server.connect(to.net.as_faults(), how.command_timeout);
    o.lease_time = how.lease_time;
    o.unavailable_timeout = how.unavailable_timeout;
    o.release_timeout = how.release_timeout;
    o.close_timeout = how.close_timeout;
    o.release_on_close = how.release_on_close;
    o.poll_bound = how.poll_bound;
    o.hand_off = how.hand_off;
    o.executor_is_serial = ways.is_serial;
    const auto heard = [this](const event& e) {
        if (e.kind == event_kind::waited && e.text_size > 0)
            last_words_.assign(e.text, e.text_size);
    };
    o.observer = std::make_shared<telling>(log, to.program * 10 + to.server, heard);
    o.random = [&to] { return to.random.roll(); };
    // The library recognizes a serial executor by its type, so it must be the executor of the
    // io_context itself.
    const asio::any_io_executor runs =
        ways.is_serial ? io.get_executor() : client_executor(io, services);
    to.at = std::make_unique<client>(runs, clock, std::move(o));
    identities_.emplace(to.at->id(), &to);
}

void realm::close_began(terminal& to) {
    ++to.generation;
    checks_->closed(to);
}

asio::awaitable<void> realm::close(terminal& to) {
    log.note({.client = to.program, .server = to.server}, "closes its client");
    close_began(to);
    const time_point began = clock.now();
    (void)co_await to.at->async_close(asio::as_tuple(asio::use_awaitable));
    if (clock.now() - began >
        how.close_timeout + how.release_timeout + duration{50} + 2 * how.command_timeout)
        violated("every operation ends", -1, "a close took too long");
}

const terminal* realm::home_of(const std::string& owner) const {
    const auto found = identities_.find(client_in(owner));
    return found == identities_.end() ? nullptr : found->second;
}

void realm::play(asio::awaitable<void> story) {
    asio::co_spawn(io, std::move(story), [](const std::exception_ptr& bug) {
        if (bug)
            std::rethrow_exception(bug);
    });
}

asio::awaitable<void> realm::sleep(duration d) {
    const std::unique_ptr<alarm> nap = clock.make_alarm();
    co_await nap->wait_until(clock.now() + d);
}

void realm::after_steps(std::size_t count, std::function<void()> act) {
    delayed_.push_back({steps_ + count, std::move(act)});
}

void realm::run_until(time_point end) {
    do {
        do {
            while (!verdict_ && clock.step())
                after_step();
            // also runs the alarms of this moment
        } while (!verdict_ && clock.jump_to_next(clock.now()));
        look_at_servers();
        checks_->at_rest();
    } while (!verdict_ && clock.jump_to_next(end));
    if (!verdict_)
        clock.run_until(end);
}

void realm::after_step() {
    ++steps_;
    act_if_due(delayed_, steps_);
    checks_->after_step();
}

void realm::look_at_servers() {
    for (int server = 0; server < servers(); ++server) {
        node& of = node_at(server);
        const auto machine = primary_state(of.server);
        const std::uint64_t changes = machine->changes();
        const bool only_time_has_passed = of.changes_seen == changes;
        of.changes_seen = changes;
        for (int name = 0; name < names(); ++name)
            if (!only_time_has_passed ||
                !is_still(sighting_at({server, name}), *machine, name_of(name)))
                look_at({server, name}, *machine);
    }
}

void realm::look_at(spot where, const memory::server_state& machine) {
    sighting now;
    if (std::optional<holding> held = machine.lock_at(name_of(where.name)))
        now = sighting_of(std::move(*held));
    sighting& before = sighting_at(where);
    if (before.owner != now.owner) {
        const terminal* const home = home_of(now.owner);
        tell_of_holder(log, {.name = where.name, .server = where.server}, home ? home->program : -1,
                       now);
    }
    before = std::move(now);
}

std::vector<belief> realm::beliefs() const {
    std::vector<belief> all;
    for (claim* const c : books.claims())
        if (c->held.owns_lock())
            all.push_back({c, c->shares()});
    return all;
}

std::string realm::holder(spot where) const {
    const auto held = inspect(node_at(where.server).server, name_of(where.name));
    return held ? held->owners.at(0) : std::string{};
}

void realm::sent(terminal& from, const memory::request& r, const memory::fate& f) {
    tell_of_request(log, {.client = from.program, .server = from.server}, r, f,
                    from.net.troubles(f));
    if (r.what == memory::verb::force && !f.refused && !f.request_lost)
        in_doubt({from.server, world::number_of(r.name)}, true,
                 f.request_delay + f.executed_again.value_or(duration{}));
    checks_->sent(r, f);
}

void realm::in_doubt(spot where, bool beyond_promise, duration from_now) {
    const time_point end = clock.now() + from_now + how.lease_longest;
    time_point& until = node_at(where.server).doubt_until[where.name];
    until = std::max(until, end);
    time_point& broke = node_at(where.server).broke_until[where.name];
    if (beyond_promise)
        broke = std::max(broke, end);
}

void realm::all_in_doubt(int server, bool beyond_promise) {
    node_at(server).is_faithful = false;
    for (int name = 0; name < names(); ++name)
        in_doubt({server, name}, beyond_promise);
}

time_point realm::until(spot where, std::map<int, time_point> node::*which) const {
    const std::map<int, time_point>& all = node_at(where.server).*which;
    const auto found = all.find(where.name);
    return found == all.end() ? time_point{} : found->second;
}

bool realm::quorum_promised(int name) const {
    for (int server = 0; server < servers(); ++server)
        if (clock.now() <= until({server, name}, &node::broke_until))
            return false;
    return true;
}

void realm::step_clock(int server, duration by) {
    log.note({.server = server}, "its clock is stepped by {} ms", by);
    node& of = node_at(server);
    of.is_faithful = false;
    if (by > duration{})
        all_in_doubt(server, true);
    else
        of.stepped_back -= by;
    of.changes_seen.reset();
    of.server.step_clock(by);
}

void realm::set_rate(int server, double rate) {
    log.note({.server = server}, "its clock runs at {} per mille",
             static_cast<std::int64_t>(rate * 1000));
    set_clock_rate(node_at(server).server, rate);
}

void realm::restart_empty(int server) {
    log.note({.server = server}, "is restarted, and empty");
    all_in_doubt(server, false);
    node_at(server).restarts.push_back(clock.now());
    node_at(server).server.restart_empty();
}

asio::awaitable<void> realm::reconnect(int server, duration takes) {
    co_await sleep(takes);
    for (std::deque<terminal>& program : programs) {
        terminal& to = program[static_cast<std::size_t>(server)];
        if (!to.net.cut_off() && to.generation == to.of_client && to.at)
            to.at->engine()->renewals().revalidate({}, true);
    }
}

void realm::evict(spot where) {
    log.note({.name = where.name, .server = where.server}, "is evicted");
    node_at(where.server).is_faithful = false;
    in_doubt(where, true);
    node_at(where.server).server.evict(name_of(where.name));
}

void realm::occupy(spot where, duration lease) {
    log.note({.name = where.name, .server = where.server}, "a foreigner takes it for {} ms", lease);
    if (home_of(holder(where)))
        in_doubt(where, true);
    node_at(where.server).server.occupy(name_of(where.name), lease);
}

void realm::vacate(spot where) {
    node_at(where.server).server.vacate(name_of(where.name));
}

void realm::violated(const char* invariant, int name, std::string story) {
    if (!verdict_)
        verdict_ = violation{invariant, std::move(story), name};
}

} // namespace holdfast::sim::several
