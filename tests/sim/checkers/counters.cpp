// SPDX-License-Identifier: Apache-2.0
#include "sim/checkers/counters.hpp"

namespace holdfast::sim {
namespace {

/// Time for which the server remembers a request, by its own clock. After a longer step of that
/// clock, a repeated request may have its effect twice.
constexpr std::chrono::microseconds remembered = std::chrono::minutes{1};

constexpr std::int64_t any_number = 1'000'000'000;

std::string program_of(const owner_id& request) {
    const std::string all = to_string(request);
    return all.substr(0, all.rfind(':'));
}

std::int64_t moved_by(const memory::count_record& r) {
    return r.after.value_or(0) - r.before.value_or(0);
}

/// Returns whether the change had its expected effect on the counter.
bool is_its_effect(const memory::count_record& r) {
    const counter_change& what = *r.changed;
    switch (what.verb) {
    case counter_verb::add:
    case counter_verb::add_if_there:
        return r.after && moved_by(r) == what.amount;
    case counter_verb::take_back:
        return r.after && moved_by(r) == -what.amount;
    case counter_verb::drain:
        return r.before && r.after == 0;
    case counter_verb::set_new:
        return !r.before && r.after == what.amount;
    case counter_verb::count_down:
        return r.before &&
               (r.after ? moved_by(r) == -what.amount && *r.after > 0 : *r.before <= what.amount);
    case counter_verb::erase:
        return r.before && !r.after;
    case counter_verb::set:
        return r.after == what.amount;
    case counter_verb::give_back:
    case counter_verb::set_lease:
        break; // the total includes held permits, so it does not change
    }
    return false;
}

/// Returns whether changes of this kind can be summed up for each program. The effect of the others
/// depends on the counter's value, and so on other programs.
bool adds_up(counter_verb verb) {
    return verb != counter_verb::set_new && verb != counter_verb::set &&
           verb != counter_verb::erase;
}

} // namespace

conservation::conservation(world& w)
    : world_{w}
    , numbers_(static_cast<std::size_t>(w.names())) {}

void conservation::sent(const memory::request& r, const memory::fate& f) {
    if (r.what == memory::verb::count && f.executed_again)
        requests_[to_string(details_of(r).counted->request)].copied = true;
}

void conservation::counted(int name, const memory::count_record& r) {
    if (world_.how.counts(name) == counter_kind::rate)
        return draw(name, r);
    if (r.before != expected(name, r.at))
        fail(name, "it was changed by nobody's request");
    number& now = numbers_[static_cast<std::size_t>(name)];
    if (!r.before || !r.after)
        now = {};
    if (!r.before && r.after && r.changed->kept > duration{})
        now.ends_at = r.at + r.changed->kept;
    now.value = r.after;
    if (r.taken)
        take(name, r);
    else if (r.given_back)
        give_back(name, r);
    else if (r.changed->request.number != 0)
        change(name, r);
}

/// Returns the expected value, or nothing after the counter has expired. If the clock is stepped
/// back, the counter may exist again.
std::optional<std::int64_t> conservation::expected(int name, std::chrono::microseconds now) const {
    const number& known = numbers_[static_cast<std::size_t>(name)];
    return now < known.ends_at ? known.value : std::nullopt;
}

/// Returns whether the server has forgotten the first copy of the request, and may execute the
/// request again.
bool conservation::forgets(request& known, const memory::count_record& r) {
    if (!known.done || r.at - known.at < remembered)
        return false;
    const owner_id& again = r.taken        ? r.taken->request
                            : r.given_back ? r.given_back->request
                                           : r.changed->request;
    doubted_.insert(program_of(again));
    return true;
}

void conservation::take(int name, const memory::count_record& r) {
    const counter_ask& want = *r.taken;
    if (want.kind == counter_kind::latch)
        return;
    request& known = requests_[to_string(want.request)];
    if (r.before == r.after || forgets(known, r))
        return;
    if (moved_by(r) != -want.amount || r.after.value_or(-1) < 0)
        fail(name, to_string(want.request) + " took what it did not ask for");
    if (known.moved || known.given_back)
        fail(name, to_string(want.request) + " took permits " +
                       (known.given_back ? "after it had given them back" : "twice"));
    known.at = r.at;
    known.done = known.moved = true;
    account& of = account_of(program_of(want.request), name);
    of.at_server -= want.amount;
    known.unnoticed = known.copied;
    of.unnoticed -= known.unnoticed ? want.amount : 0;
}

void conservation::give_back(int name, const memory::count_record& r) {
    const counter_ask& want = *r.given_back;
    if (want.kind == counter_kind::latch)
        return;
    request& known = requests_[to_string(want.request)];
    if (forgets(known, r))
        return;
    const bool owes = known.moved && !known.given_back;
    // giving back does not create a deleted counter again
    const std::int64_t due = owes && r.before ? want.amount : 0;
    if (moved_by(r) != due)
        fail(name, to_string(want.request) + " gave back " + std::to_string(moved_by(r)) +
                       " permits, not " + std::to_string(due));
    account& of = account_of(program_of(want.request), name);
    of.at_server += owes ? want.amount : 0;
    of.unnoticed += owes && known.unnoticed ? want.amount : 0;
    known.at = known.done ? known.at : r.at;
    known.done = known.given_back = true;
}

/// Applies a draw from a rate limiter to the expected sums. A repeated request may draw twice:
/// after its first draw has expired, or after the draw was given back (then the second is given
/// back, too). If a later copy finds too few permits, the caller may get either result.
void conservation::draw(int name, const memory::count_record& r) {
    const owner_id& by = r.taken        ? r.taken->request
                         : r.given_back ? r.given_back->request
                                        : r.changed->request;
    request& known = requests_[to_string(by)];
    account& of = account_of(program_of(by), name);
    const auto leave_open = [&](bool what, std::int64_t amount) {
        of.unnoticed += known.unnoticed == what ? 0 : what ? -amount : amount;
        known.unnoticed = what;
    };
    if (r.taken && r.granted && !known.moved) {
        known.moved = true;
        of.at_server -= r.taken->amount;
        leave_open(known.copied, r.taken->amount);
    } else if (r.taken && !r.granted && known.moved) {
        leave_open(true, r.taken->amount);
    } else if (r.given_back && known.moved) {
        known.moved = false;
        of.at_server += r.given_back->amount;
        leave_open(false, r.given_back->amount);
    } else if (r.changed && r.granted && r.changed->verb == counter_verb::add &&
               !forgets(known, r) && !known.done) {
        known.at = r.at;
        known.done = true;
        of.at_server += r.changed->amount;
    }
}

void conservation::change(int name, const memory::count_record& r) {
    const counter_change& what = *r.changed;
    request& known = requests_[to_string(what.request)];
    if (forgets(known, r))
        return;
    const bool moves = r.before != r.after;
    if (moves && known.done)
        fail(name, to_string(what.request) + " had its effect twice");
    if (moves && !is_its_effect(r))
        fail(name, to_string(what.request) + " did what it was not asked for");
    if (known.done)
        return;
    known = {.at = r.at, .done = true, .moved = moves};
    account& of = account_of(program_of(what.request), name);
    if (what.verb == counter_verb::count_down)
        --of.at_server; // counts calls: their sum depends on how many were left
    else if (adds_up(what.verb))
        of.at_server += moved_by(r);
}

/// Returns by how much the operation has changed the counter at least and at most, as far as its
/// caller knows.
std::pair<std::int64_t, std::int64_t> conservation::told(const operation& o, outcome how) const {
    // After a step back of its clock, the server also executes a late request.
    const bool may_be_late = how == outcome::unreachable && world_.stepped_back() > duration{};
    const bool unknown = how == outcome::outcome_unknown || how == outcome::closed || may_be_late;
    const std::int64_t amount = how == outcome::done || unknown ? o.amount : 0;
    const std::int64_t sure = how == outcome::done ? 1 : 0;
    switch (o.what) {
    case deed::acquire:
        if (world_.how.counts(o.who.name) == counter_kind::permits)
            return {}; // the total includes held permits
        return {-amount * sure, -amount * sure};
    case deed::drain:
        return {unknown ? -any_number : -amount, unknown ? any_number : -amount};
    case deed::count_down:
        return {sure == 1 || unknown ? -1 : 0, -sure};
    case deed::release_permits:
    case deed::add_permits:
    case deed::give_rate:
        return {std::min(amount, amount * sure), std::max(amount, amount * sure)};
    default:
        return {};
    }
}

void conservation::completed(const operation& o, outcome how) {
    const seat& home = world_.seats[static_cast<std::size_t>(std::max(o.who.client, 0))];
    if (o.who.name < 0 || !world_.how.counts(o.who.name) || o.generation != home.of_program)
        return;
    const auto [least, most] = told(o, how);
    account& of = account_of(home.program->id(), o.who.name);
    of.least += least;
    of.most += most;
}

void conservation::look() {
    for (int name = 0; name < world_.names(); ++name)
        if (world_.how.counts(name) && world_.how.counts(name) != counter_kind::rate &&
            world_.counter(name) != expected(name, primary_state(world_.server)->now()))
            fail(name, "it was changed by nobody");
}

void conservation::forgotten() {
    numbers_.assign(numbers_.size(), {});
    requests_.clear();
    for (const seat& each : world_.seats)
        if (each.program)
            doubted_.insert(each.program->id());
}

void conservation::evicted(int name) {
    numbers_[static_cast<std::size_t>(name)] = {};
}

void conservation::at_peace() {
    for (const auto& [of, sums] : accounts_) {
        const auto& [program, name] = of;
        if (!is_of_use(name, program))
            continue;
        if (sums.at_server < sums.least + sums.unnoticed || sums.at_server > sums.most)
            fail(name, "the requests of " + program + " have changed it by " +
                           std::to_string(sums.at_server) + ", its callers by " +
                           std::to_string(sums.least) + " to " + std::to_string(sums.most));
    }
}

bool conservation::is_of_use(int name, const std::string& program) const {
    const bool lives = std::ranges::any_of(world_.seats, [&](const seat& each) {
        return each.program->id() == program && each.generation == each.of_program;
    });
    // After a step back of its clock, the server also executes a late draw. It has forgotten that
    // the draw was given back, so the draw counts until it expires.
    const bool may_be_late = world_.stepped_back() > duration{} || world_.clock_was_slow();
    const bool draws = world_.how.counts(name) == counter_kind::rate;
    return lives && !doubted_.contains(program) && !(draws && may_be_late);
}

void conservation::fail(int name, const std::string& story) {
    world_.violated("conservation", name, story);
}

} // namespace holdfast::sim
