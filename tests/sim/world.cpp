// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include "sim/inspection.hpp"
#include "store/memory/replicas.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>

namespace holdfast::sim {

/// Factor by which the speeds of two clocks may differ. holdfast promises to tolerate it.
constexpr double rate_promised = 1.01;

void act_if_due(std::vector<delayed>& all, std::size_t step) {
    const auto waits = [step](const delayed& d) { return d.step > step; };
    if (std::ranges::all_of(all, waits))
        return;
    const auto due = std::stable_partition(all.begin(), all.end(), waits);
    std::vector<delayed> now{std::make_move_iterator(due), std::make_move_iterator(all.end())};
    all.erase(due, all.end());
    for (delayed& d : now)
        d.act();
}

world::world(std::uint64_t seed, rules r, int names)
    : how{r}
    , chance{seed}
    , further{~seed}
    , replicas{*this, seed}
    , sightings_(static_cast<std::size_t>(names))
    , queues_(static_cast<std::size_t>(names))
    , doubt_until_(static_cast<std::size_t>(names))
    , set_since_(static_cast<std::size_t>(names))
    , checks_{std::make_unique<inspection>(*this)} {
    primary_state(server)->set_jvm_wait(how.stranger_waits());
    if (how.by_session())
        server.keep_by_session(how.session_time);
    if (!how.counters.empty())
        primary_state(server)->tell_of_counts(
            [this](const memory::count_record& what) { counted(what); });
}

world::~world() = default;

seat& world::add_seat(weather w) {
    const int number = static_cast<int>(seats.size());
    const auto told = [this, number](const memory::request& r, const memory::fate& f) {
        sent(seats[static_cast<std::size_t>(number)], r, f);
    };
    seats.emplace_back(number, chance.split(),
                       network{clock, chance.split(), further.split(), how.command_timeout, told});
    seat& place = seats.back();
    place.net.set(w);
    start_program(place);
    return place;
}

void world::start_program(seat& place) {
    place.of_program = place.generation;
    place.asks = machines(server)->last_announced().primary->id();
    options o;
    o.store = server.connect(way_of(place));
    o.lease_time = how.lease_time;
    o.max_hold = how.max_hold;
    o.unavailable_timeout = how.unavailable_timeout;
    o.release_timeout = how.release_timeout;
    o.close_timeout = how.close_timeout;
    o.release_on_close = how.release_on_close;
    o.poll_bound = how.poll_bound;
    o.waiters_max = how.waiters_max;
    o.hand_off = how.hand_off;
    o.observer = std::make_shared<telling>(
        log, place.number,
        [this, &place, of = place.generation](const event& e) { heard(place, of, e); });
    o.random = [&place] { return place.random.roll(); };
    place.program = std::make_unique<client>(client_executor(io, services), clock, std::move(o));
    identities_.emplace(place.program->id(), place.number);
    log.note({.client = place.number}, "starts");
}

memory::way world::way_of(seat& place) {
    memory::way leads{.faults = place.net.as_faults(), .command_timeout = how.command_timeout};
    if (replicas.exists())
        leads.notices = [this, &place] { return replicas.news_for(place); };
    return leads;
}

void world::heard(seat& place, int generation, const event& e) {
    if (e.kind == event_kind::moved)
        // also between the end of a program and the start of the next
        place.moved_at = clock.now();
    if (e.kind == event_kind::moved && generation == place.of_program) {
        place.asks.assign(e.name, e.name_size);
    }
    checks_->heard(place.number, generation, e);
}

void world::close_began(seat& place) {
    somebody_died_ = true;
    ++place.generation;
    checks_->closed(place);
}

int world::client_of(const std::string& owner) const {
    const std::string_view identity = client_in(owner);
    if (identities_.empty() || identity.size() != identities_.begin()->first.size())
        return -1; // all identities of holdfast clients have the same length
    const auto found = identities_.find(identity);
    return found == identities_.end() ? -1 : found->second;
}

void world::play(asio::awaitable<void> story) {
    asio::co_spawn(io, std::move(story), [](const std::exception_ptr& bug) {
        if (bug)
            std::rethrow_exception(bug);
    });
}

asio::awaitable<void> world::sleep(duration d) {
    const std::unique_ptr<alarm> nap = clock.make_alarm();
    co_await nap->wait_until(clock.now() + d);
}

void world::after_steps(std::size_t count, std::function<void()> act) {
    delayed_.push_back({steps_ + count, std::move(act)});
}

void world::run_until(time_point end) {
    do {
        do {
            while (!verdict_ && step())
                after_step();
            // also runs the alarms of this moment
        } while (!verdict_ && clock.jump_to_next(clock.now()));
        at_rest();
    } while (!verdict_ && clock.jump_to_next(end));
    if (!verdict_)
        clock.run_until(end);
}

/// Runs one step, as a program does that catches the exceptions of its handlers and continues.
bool world::step() {
    try {
        return clock.step();
    } catch (const blunder&) {
        ++came_out_;
        log.note({}, "what a handler threw has come out");
        return true;
    }
}

world::blunder::blunder()
    : system_error{make_error_code(errc::unreachable), "a handler's own"} {}

world::blunder world::about_to_throw(subject who) {
    ++thrown_;
    log.note(who, "throws");
    return {};
}

void world::after_step() {
    ++steps_;
    act_if_due(delayed_, steps_);
    checks_->after_step();
}

void world::at_rest() {
    look_at_server();
    for (claim* const c : books.believed())
        c->is_believed = c->held.owns_lock();
    checks_->at_rest();
}

std::optional<holding> lock_at(const memory::server& at, const lock_name& name) {
    return primary_state(at)->lock_at(name);
}

sighting sighting_of(holding held) {
    sighting now;
    now.owner = held.owners.at(0);
    now.remaining = held.remaining.value_or(duration::max());
    now.owners = std::move(held.owners);
    now.written = held.alone;
    return now;
}

bool is_still(sighting& last, const memory::server_state& machine, const lock_name& name) {
    if (last.shows_nobody())
        return true;
    if (last.owners.size() != 1 || !last.permits.empty())
        return false;
    const std::optional<duration> left = machine.left_of(name, last.owner);
    last.remaining = left.value_or(last.remaining);
    return left.has_value();
}

void world::look_at_server() {
    const auto machine = primary_state(server);
    const server_stamp stamp_now = stamp();
    const bool only_time_has_passed = stamp_now.is_same_state(sighted_at_);
    sighted_at_ = stamp_now;
    for (int name = 0; name < names(); ++name) {
        sighting& before = sightings_[static_cast<std::size_t>(name)];
        if (only_time_has_passed && is_still(before, *machine, name_of(name)))
            continue;
        sighting now;
        if (how.counts(name) == counter_kind::permits)
            now = look_at_permits(name);
        else if (std::optional<holding> held = lock_at(server, name_of(name)))
            now = sighting_of(std::move(*held));
        if (before.owner != now.owner)
            tell_of_holder(log, {.name = name}, client_of(now.owner), now);
        before = std::move(now);
    }
}

/// Returns the holders of permits. The owner of a permit is known from the request for it.
sighting world::look_at_permits(int name) const {
    sighting now;
    now.permits = primary_state(server)->permits_held(name_of(name));
    for (const auto& [id, left] : now.permits) {
        const std::string owner = lease_of(id);
        if (!owner.empty() && !now.shows(owner))
            now.owners.push_back(owner);
    }
    if (!now.owners.empty())
        now.owner = now.owners.front();
    return now;
}

std::optional<std::int64_t> world::counter(int name) const {
    return primary_state(server)->count_of(name_of(name),
                                           how.counts(name).value_or(counter_kind::semaphore));
}

bool world::is_set(int name) const {
    return primary_state(server)->inspect_counter(name_of(name), counter_kind::rate, {}).exists;
}

bool world::is_drawn_by_each(int name) const {
    const counter_state found =
        primary_state(server)->inspect_counter(name_of(name), counter_kind::rate, {});
    return found.of.scope == rate::scope_of::per_client;
}

std::int64_t world::available(int name) const {
    return primary_state(server)
        ->inspect_counter(name_of(name), how.counts(name).value(), {})
        .value;
}

namespace {

/// Returns whether the request may free permits that another client believes to hold.
bool takes_permits_away(const memory::request& r) {
    const counter_change* const changed = details_of(r).changed;
    return changed && changed->kind == counter_kind::permits &&
           (changed->verb == counter_verb::give_back || changed->verb == counter_verb::erase);
}

} // namespace

void world::sent(seat& place, const memory::request& r, const memory::fate& f) {
    const int machine = replicas.exists() ? static_cast<int>(r.to) : -1;
    tell_of_request(log, {.client = place.number, .server = machine}, r, f, place.net.troubles(f));
    if (replicas.exists())
        replicas.check_sent(place, r.to);
    for (const hold& each : r.holds)
        for (owner_id one = each.owner;
             keeps_permits_ && one.number < each.owner.number + each.permits; ++one.number)
            lease_of_permit_.try_emplace(permit_id(one), to_string(each.owner));
    const bool takes_away = r.what == memory::verb::force || takes_permits_away(r);
    if (takes_away && !f.refused && !f.request_lost)
        in_doubt(number_of(r.name), f.request_delay + f.executed_again.value_or(duration{}));
    // the second copy acts as a client that came and died
    somebody_died_ = somebody_died_ || f.executed_again;
    checks_->sent(place, r, f);
}

void world::in_doubt(int name, duration from_now) {
    time_point& until = doubt_until_[static_cast<std::size_t>(name)];
    until = std::max(until, clock.now() + from_now + how.lease_longest);
}

void world::all_in_doubt() {
    for (int name = 0; name < names(); ++name)
        in_doubt(name);
}

bool world::exclusion_promised(int name) const {
    return rate_ <= rate_promised && clock.now() > doubt_until_[static_cast<std::size_t>(name)];
}

bool world::promised(const claim& c) {
    return exclusion_promised(c.who.name) && (!replicas.in_doubt() || replicas.survives(c));
}

/// Returns whether tokens must grow. After a failover, a primary may repeat tokens that its replica
/// did not have to confirm.
bool world::tokens_promised(int name) const {
    const bool survive = replicas.promotions() == 0 || replicas.all_survive(name);
    return clock.now() > tokens_doubted_until_ && survive;
}

void world::step_clock(duration by) {
    log.note({}, "its clock is stepped by {} ms", by);
    ++clock_changes_;
    stepped_ = true;
    faithful_ = false;
    if (by > duration{})
        all_in_doubt();
    else
        stepped_back_ -= by;
    server.step_clock(by);
}

void world::set_rate(double rate) {
    log.note({}, "its clock now runs at {} per mille", static_cast<std::int64_t>(rate * 1000));
    if (rate_ > rate_promised)
        all_in_doubt();
    ++clock_changes_;
    rate_ = rate;
    faithful_ = faithful_ && rate <= rate_promised && rate >= 2 - rate_promised;
    was_slow_ = was_slow_ || rate < 2 - rate_promised;
    set_clock_rate(server, rate);
}

void world::restart_empty() {
    log.note({}, "is restarted, and empty");
    faithful_ = false;
    all_in_doubt();
    tokens_doubted_until_ = clock.now() + how.lease_longest;
    checks_->tokens_forgotten();
    server.restart_empty();
    checks_->counters_forgotten();
    set_since_.assign(set_since_.size(), clock.now());
}

void world::evict(int name) {
    log.note({.name = name}, "forgets that lock");
    faithful_ = false;
    if (server.evict(name_of(name)))
        in_doubt(name);
    checks_->counter_evicted(name);
    set_since_[static_cast<std::size_t>(name)] = clock.now();
}

void world::occupy(int name, duration lease, lock_kind kind) {
    log.note({.name = name}, "a foreigner takes it for {} ms", lease);
    if (inspect(server, name_of(name))) {
        faithful_ = false;
        in_doubt(name);
    }
    server.occupy(name_of(name), lease, kind);
}

void world::count(int name, counter_verb verb, std::int64_t amount) {
    log.note({.name = name}, "a stranger changes it by {}", amount);
    primary_state(server)->stranger_changes(
        {name_of(name), {}, how.counts(name).value(), verb, amount});
}

void world::take_permit(int name, duration lease) {
    log.note({.name = name}, "a stranger takes a permit of it for {} ms", lease);
    owner_id stranger;
    stranger.client.fill(0xee);
    stranger.number = ++strangers_permits_;
    hold what{name_of(name), stranger, lock_kind::permit};
    primary_state(server)->stranger_takes_permits(what, lease);
}

void world::counted(const memory::count_record& r) {
    const lock_name& name = r.changed ? r.changed->name : (r.taken ? r.taken : r.given_back)->name;
    const bool is_new = r.changed && (r.changed->verb == counter_verb::set_new ||
                                      r.changed->verb == counter_verb::set ||
                                      r.changed->verb == counter_verb::erase);
    if (is_new)
        set_since_[static_cast<std::size_t>(number_of(name.text))] = clock.now();
    if (r.before != r.after)
        log.note({.name = number_of(name.text)}, r.after ? "counts {} now" : "is gone",
                 r.after.value_or(0));
    checks_->counted(number_of(name.text), r);
}

void world::vacate(int name) {
    log.note({.name = name}, "the foreigner releases it");
    server.vacate(name_of(name));
}

bool world::stranger_looks(int name, const std::string& owner, duration wait) {
    somebody_died_ = jvms_came_ = true;
    const bool has_it = primary_state(server)->stranger_takes_or_queues(name_of(name), owner, wait,
                                                                        how.lease_longest);
    if (has_it)
        log.note({.name = name}, "a JVM has its turn");
    return has_it;
}

void world::stranger_releases(int name, const std::string& owner) {
    log.note({.name = name}, "the JVM releases it");
    primary_state(server)->stranger_releases(name_of(name), owner);
}

void world::stranger_gives_up(int name, const std::string& owner, duration wait) {
    log.note({.name = name}, "a JVM gives up");
    primary_state(server)->stranger_leaves(name_of(name), owner, wait);
}

const world::shown_queue& world::queue_of(int name) const {
    read_queue& last = queues_[static_cast<std::size_t>(name)];
    const auto machine = primary_state(server);
    const std::uint64_t changes = machine->changes();
    if (last.machine == machine.get() && last.changes == changes)
        return last.shown;
    last.machine = machine.get();
    last.changes = changes;
    if (machine->read_waiting(name_of(name), last.shown.owners))
        ++last.shown.version;
    return last.shown;
}

std::vector<std::string> world::counting(int name) const {
    return primary_state(server)->counting(name_of(name));
}

world::server_stamp world::stamp() const {
    const auto machine = primary_state(server);
    return {machine.get(), machine->changes(), clock_changes_, clock.now()};
}

const std::string& world::text_of(const owner_id& owner) const {
    if (owner.number != last_owner_.number || owner.client != last_owner_.client) {
        last_owner_ = owner;
        text_of_last_owner_ = to_string(owner);
    }
    return text_of_last_owner_;
}

std::string world::holder(int name) const {
    const std::optional<holding> held = lock_at(server, name_of(name));
    return held ? held->owners.at(0) : std::string{};
}

bool world::anybody_may_be_dead() const {
    return somebody_died_ ||
           std::any_of(seats.begin(), seats.end(), [](const seat& s) { return !s.net.flawless(); });
}

void world::violated(const char* invariant, int name, std::string story) {
    if (!verdict_)
        verdict_ = violation{invariant, std::move(story), name};
}

} // namespace holdfast::sim
