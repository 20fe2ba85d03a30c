// SPDX-License-Identifier: Apache-2.0
#include "store/memory/counter_tables.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::memory {

count_verdict counter_table::look(const counter_ask& want, duration memory) {
    if (want.kind == counter_kind::latch)
        return look_at_latch(want);
    const counter_answer* const before = requests_.find(want.name, want.request);
    if (before) // after `take_back`, a late copy takes nothing
        return {.said = before->done ? verdict::granted : verdict::busy};
    counter* const there = find(want.name);
    if (!there || there->value < want.amount)
        return {.said = verdict::busy};
    there->value -= want.amount;
    counter_answer granted;
    granted.done = true;
    requests_.remember(want.name, want.request, granted, memory);
    return {.said = verdict::granted};
}

count_verdict counter_table::look_at_latch(const counter_ask& want) {
    const counter* const there = find(want.name);
    if (!there || there->value <= 0)
        return {.said = verdict::granted};
    return {.said = verdict::busy, .left = clock_.left(there->ends_at)};
}

change_verdict counter_table::take_back(const counter_ask& want, duration memory) {
    if (want.kind == counter_kind::latch)
        return {};
    const counter_answer* const before = requests_.find(want.name, want.request);
    const bool was_taken = before && before->done;
    requests_.remember(want.name, want.request, {}, memory);
    counter* const there = find(want.name);
    if (!was_taken || !there) // do not create a deleted counter again
        return {};
    there->value = std::min(there->value + want.amount, counted_max);
    change_verdict given;
    given.what.done = true;
    given.what.value = given.rings = there->value;
    return given;
}

change_verdict counter_table::change(const counter_change& what, duration memory) {
    if (const counter_answer* const answered = requests_.find(what.name, what.request))
        return {.what = *answered};
    change_verdict outcome = carry_out(what);
    requests_.remember(what.name, what.request, outcome.what, memory);
    return outcome;
}

change_verdict counter_table::carry_out(const counter_change& what) {
    switch (what.verb) {
    case counter_verb::add:
        return add(what, what.amount);
    case counter_verb::add_if_there:
        return find(what.name) ? add(what, what.amount) : change_verdict{};
    case counter_verb::take_back:
        return add(what, -what.amount);
    case counter_verb::drain:
        return drain(what);
    case counter_verb::set_new:
        return set_new(what);
    case counter_verb::count_down:
        return count_down(what);
    case counter_verb::erase:
        return remove(what);
    case counter_verb::set:
    case counter_verb::give_back:
    case counter_verb::set_lease:
        break; // only for leased semaphores and rate limiters
    }
    return {}; // not reached, but the compiler needs it
}

change_verdict counter_table::add(const counter_change& what, std::int64_t amount) {
    const counter* const there = find(what.name);
    const std::int64_t before = there ? there->value : 0;
    const std::int64_t after = before + amount;
    const std::int64_t bound = what.most > 0 ? std::min(what.most, counted_max) : counted_max;
    change_verdict outcome;
    outcome.what.beyond = amount < 0 ? after < -counted_max : after > bound;
    outcome.what.done = !outcome.what.beyond;
    outcome.what.value = before;
    if (!outcome.what.done)
        return outcome;
    counters_[what.name.text].value = outcome.what.value = after;
    outcome.rings = amount > 0 ? after : 0;
    return outcome;
}

change_verdict counter_table::set_new(const counter_change& what) {
    change_verdict outcome;
    if (const counter* const there = find(what.name)) {
        outcome.what.value = there->value;
        return outcome;
    }
    counter made{.value = what.amount};
    if (what.kept > duration::zero())
        made.ends_at = clock_.end_of(what.kept);
    counters_.emplace(what.name.text, made);
    outcome.what.done = true;
    outcome.what.value = what.amount;
    outcome.rings = what.kind == counter_kind::semaphore ? what.amount : 0;
    return outcome;
}

change_verdict counter_table::drain(const counter_change& what) {
    change_verdict outcome;
    outcome.what.done = true;
    if (counter* const there = find(what.name))
        outcome.what.value = std::exchange(there->value, 0);
    return outcome;
}

change_verdict counter_table::count_down(const counter_change& what) {
    change_verdict outcome;
    counter* const there = find(what.name);
    if (!there)
        return outcome;
    const bool was_closed = there->value > 0;
    there->value -= what.amount;
    outcome.what.value = std::max<std::int64_t>(there->value, 0);
    if (there->value > 0)
        return outcome;
    counters_.erase(what.name.text);
    outcome.what.done = was_closed;
    outcome.rings = 1;
    return outcome;
}

change_verdict counter_table::remove(const counter_change& what) {
    change_verdict outcome;
    outcome.what.done = erase(what.name);
    outcome.rings = outcome.what.done && what.kind == counter_kind::latch ? 1 : 0;
    return outcome;
}

std::optional<std::int64_t> counter_table::value(const lock_name& name) const {
    const auto found = counters_.find(name.text);
    if (found == counters_.end() || clock_.is_over(found->second.ends_at))
        return std::nullopt;
    return found->second.value;
}

std::vector<std::string> counter_table::names() const {
    std::vector<std::string> all;
    for (const auto& [name, each] : counters_)
        if (!clock_.is_over(each.ends_at))
            all.push_back(name);
    return all;
}

bool counter_table::erase(const lock_name& name) {
    return find(name) && counters_.erase(name.text) == 1;
}

std::optional<kept_number> counter_table::take_out(const lock_name& name) {
    const counter* const there = find(name);
    if (!there)
        return std::nullopt;
    const counter taken = *there;
    counters_.erase(name.text);
    return taken;
}

void counter_table::put(const lock_name& name, const kept_number& number) {
    counters_.insert_or_assign(name.text, number);
}

std::optional<duration> counter_table::left(const lock_name& name) const {
    const auto found = counters_.find(name.text);
    if (found == counters_.end() || found->second.ends_at == microseconds::max())
        return std::nullopt;
    return clock_.left(found->second.ends_at);
}

void counter_table::clear() {
    counters_.clear();
    requests_.clear();
}

counter_table::counter* counter_table::find(const lock_name& name) {
    return find_living(counters_, name, clock_);
}

verdict_on_look permit_table::look(const ask& want) {
    pool* const here = find(want.name);
    if (!here)
        return {.said = verdict::busy};
    const std::vector<std::string> ids = ids_of(want);
    here->over.clear();
    const auto is_missing = [here](const std::string& id) { return !here->held.contains(id); };
    const std::int64_t missing = std::ranges::count_if(ids, is_missing);
    // If the owner has all permits already, the owner keeps them, even if the number of free
    // permits is negative.
    if (missing > 0 && here->free < missing) {
        // All or none: the owner cannot use only some of the permits.
        for (const std::string& id : ids)
            here->free += static_cast<std::int64_t>(here->held.erase(id));
        verdict_on_look busy{.said = verdict::busy};
        microseconds first_end = microseconds::max();
        for (const auto& [id, end] : here->held)
            first_end = std::min(first_end, end);
        busy.left = clock_.left(first_end);
        return busy;
    }
    here->free -= missing;
    const microseconds end = clock_.end_of(want.lease_time);
    for (const std::string& id : ids)
        here->held[id] = std::max(here->held[id], end);
    return {.said = verdict::granted};
}

bool permit_table::renew(const hold& what, duration lease_time) {
    pool* const here = find(what.name);
    const std::vector<std::string> ids = ids_of(what);
    const auto is_held = [here](const std::string& id) { return here && here->held.contains(id); };
    if (!std::ranges::all_of(ids, is_held))
        return false;
    const microseconds end = clock_.end_of(lease_time);
    for (const std::string& id : ids)
        here->held[id] = std::max(here->held[id], end);
    return true;
}

std::optional<duration> permit_table::left_of(const hold& what) const {
    const auto found = pools_.find(what.name.text);
    microseconds first_end = microseconds::max();
    for (const std::string& id : ids_of(what)) {
        if (found == pools_.end() || !found->second.held.contains(id))
            return std::nullopt;
        first_end = std::min(first_end, found->second.held.at(id));
    }
    return clock_.left(std::max(first_end, clock_.now()));
}

permit_table::left permit_table::release(const hold& what) {
    left said;
    pool* const here = find(what.name);
    if (!here)
        return said;
    std::uint32_t there = 0;
    for (const std::string& id : ids_of(what)) {
        there += static_cast<std::uint32_t>(here->held.erase(id));
        here->over.erase(id);
    }
    here->free += there;
    said.was_ours = there == what.permits;
    said.rings = there > 0 ? here->free : 0;
    return said;
}

void permit_table::prolong(const owner_id& owner, microseconds end) {
    constexpr std::size_t digits_of_client = 20;
    const std::string client = permit_id(owner).substr(0, digits_of_client);
    for (auto& [name, here] : pools_)
        for (auto& [id, its_end] : here.held)
            if (id.starts_with(client) && !clock_.is_over(its_end))
                its_end = std::max(its_end, end);
}

change_verdict permit_table::change(const counter_change& what, duration memory) {
    if (const counter_answer* const before = requests_.find(what.name, what.request))
        return {.what = *before};
    change_verdict outcome = carry_out(what);
    requests_.remember(what.name, what.request, outcome.what, memory);
    return outcome;
}

change_verdict permit_table::carry_out(const counter_change& what) {
    pool* const here = find(what.name);
    change_verdict outcome;
    switch (what.verb) {
    case counter_verb::add:
        return add(what.name, what.amount);
    case counter_verb::take_back:
        return add(what.name, -what.amount);
    case counter_verb::set: {
        const auto held = static_cast<std::int64_t>(here ? here->held.size() : 0);
        return add(what.name, what.amount - held - (here ? here->free : 0));
    }
    case counter_verb::set_new:
        if (!here)
            return add(what.name, what.amount);
        outcome.what.value = here->free;
        return outcome;
    case counter_verb::erase:
        outcome.what.done = erase(what.name);
        return outcome;
    default:
        return change_held(what);
    }
}

change_verdict permit_table::add(const lock_name& name, std::int64_t amount) {
    const pool* const here = find(name);
    const std::int64_t before = here ? here->free : 0;
    const std::int64_t after = before + amount;
    change_verdict outcome;
    outcome.what.beyond = after > counted_max || after < -counted_max;
    outcome.what.done = !outcome.what.beyond;
    outcome.what.value = outcome.what.beyond ? before : after;
    if (outcome.what.beyond)
        return outcome;
    pool& changed = pools_[name.text];
    changed.free = after;
    changed.over.clear();
    outcome.rings = amount > 0 ? after : 0;
    return outcome;
}

change_verdict permit_table::change_held(const counter_change& what) {
    pool* const here = find(what.name);
    change_verdict outcome;
    const auto found = here ? here->held.find(what.permit) : decltype(here->held.end()){};
    if (!here || found == here->held.end()) {
        if (here && what.verb == counter_verb::give_back && here->over.contains(what.permit))
            here->over.clear();
        outcome.what.value = here ? here->free : 0;
        return outcome;
    }
    const bool ends = what.verb != counter_verb::set_lease;
    if (ends && here->free >= counted_max) {
        outcome.what.beyond = true;
        outcome.what.value = here->free;
        return outcome;
    }
    outcome.what.done = true;
    if (!ends) {
        found->second = clock_.end_of(what.kept);
    } else {
        here->held.erase(found);
        here->over.clear();
        outcome.rings = ++here->free;
    }
    outcome.what.value = here->free;
    return outcome;
}

std::optional<counter_state> permit_table::inspect(const lock_name& name) const {
    const auto found = pools_.find(name.text);
    if (found == pools_.end() || clock_.is_over(found->second.ends_at))
        return std::nullopt;
    const pool& here = found->second;
    const std::int64_t over = std::ranges::count_if(
        here.held, [this](const auto& each) { return clock_.is_over(each.second); });
    return counter_state{.exists = true,
                         .value = here.free + over,
                         .taken = static_cast<std::int64_t>(here.held.size()) - over};
}

std::map<std::string, duration> permit_table::held(const lock_name& name) const {
    std::map<std::string, duration> all;
    if (const auto found = pools_.find(name.text); found != pools_.end())
        for (const auto& [id, end] : found->second.held)
            if (!clock_.is_over(end))
                all.emplace(id, clock_.left(end).value_or(duration::max()));
    return all;
}

std::vector<std::string> permit_table::names() const {
    std::vector<std::string> all;
    for (const auto& [name, each] : pools_)
        if (!held({name}).empty())
            all.push_back(name);
    return all;
}

bool permit_table::has_members(const lock_name& name) const {
    const auto found = pools_.find(name.text);
    return found != pools_.end() && !clock_.is_over(found->second.ends_at) &&
           (!found->second.held.empty() || !found->second.over.empty());
}

void permit_table::put(const lock_name& name, const kept_number& number) {
    pools_.insert_or_assign(name.text, pool{.free = number.value, .ends_at = number.ends_at});
}

std::optional<kept_number> permit_table::take_out(const lock_name& name) {
    const pool* const here = find(name);
    if (!here || has_members(name))
        return std::nullopt;
    const kept_number number{here->free, here->ends_at};
    pools_.erase(name.text);
    return number;
}

bool permit_table::erase(const lock_name& name) {
    return pools_.erase(name.text) == 1;
}

void permit_table::clear() {
    pools_.clear();
    requests_.clear();
}

permit_table::pool* permit_table::find(const lock_name& name) {
    const auto found = pools_.find(name.text);
    if (found == pools_.end())
        return nullptr;
    if (clock_.is_over(found->second.ends_at)) {
        pools_.erase(found);
        return nullptr;
    }
    take_back_expired(found->second);
    return &found->second;
}

void permit_table::take_back_expired(pool& here) const {
    std::int64_t back = 0;
    for (auto each = here.held.begin(); each != here.held.end();) {
        const bool is_over = clock_.is_over(each->second);
        back += is_over ? 1 : 0;
        if (is_over)
            here.over.insert(each->first);
        each = is_over ? here.held.erase(each) : std::next(each);
    }
    here.free += back;
}

std::vector<std::string> permit_table::ids_of(const hold& what) {
    std::vector<std::string> ids;
    ids.reserve(what.permits);
    owner_id each = what.owner;
    for (std::uint32_t i = 0; i < what.permits; ++i, ++each.number)
        ids.push_back(permit_id(each));
    return ids;
}

namespace {

constexpr const char* not_set = "the rate limiter is not set: call try_set_rate() first";

} // namespace

count_verdict rate_table::look(const counter_ask& want) {
    limiter* const there = find(want.name);
    if (!there)
        return {.said = verdict::busy, .refused = not_set};
    if (want.amount > there->how.permits)
        return {.said = verdict::busy,
                .refused = std::to_string(want.amount) + " permits are more than the rate of " +
                           std::to_string(there->how.permits)};
    use(*there);
    draws& all = there->drawn[drawer_of(*there, want.request.client)];
    const auto is_it = [&want](const draw& each) { return each.by == want.request; };
    if (std::ranges::any_of(all, is_it))
        return {.said = verdict::granted};
    const std::int64_t free = free_in(*there, want.request.client);
    if (free < want.amount) {
        count_verdict busy_until = busy(*there, all, want.amount - free);
        keep_for_waiter(*there, busy_until.left);
        return busy_until;
    }
    all.push_back({want.request, clock_.now(), want.amount});
    return {.said = verdict::granted};
}

namespace {

/// Least time that a waiter needs to ask again after its wait.
constexpr duration waiter_needs{1000};

} // namespace

/// Extends the expiry of the rate limiter for a client that waits for it. After the wait, the
/// limiter still exists for the time `kept` or the time `waiter_needs`, whichever is longer.
void rate_table::keep_for_waiter(limiter& there, std::optional<duration> wait) const {
    if (there.how.kept > duration::zero() && wait)
        there.ends_at =
            std::max(there.ends_at, clock_.end_of(*wait + std::max(there.how.kept, waiter_needs)));
}

/// Returns the verdict "busy", with the time until enough permits are free again.
count_verdict rate_table::busy(const limiter& there, const draws& all, std::int64_t missing) const {
    for (const draw& each : all) {
        missing -= each.permits;
        if (missing <= 0)
            return {.said = verdict::busy, .left = clock_.left(counts_until(there, each))};
    }
    return {.said = verdict::busy};
}

change_verdict rate_table::take_back(const counter_ask& want) {
    limiter* const there = find(want.name);
    if (!there)
        return {};
    draws& all = there->drawn[drawer_of(*there, want.request.client)];
    const auto is_it = [&want](const draw& each) { return each.by == want.request; };
    std::erase_if(all, is_it);
    return {};
}

change_verdict rate_table::change(const counter_change& what, duration memory) {
    if (const counter_answer* const before = requests_.find(what.name, what.request))
        return {.what = *before};
    change_verdict outcome = carry_out(what);
    if (outcome.refused.empty())
        requests_.remember(what.name, what.request, outcome.what, memory);
    return outcome;
}

change_verdict rate_table::carry_out(const counter_change& what) {
    limiter* const there = find(what.name);
    if (what.verb == counter_verb::set || (what.verb == counter_verb::set_new && !there))
        return set(what);
    if (what.verb == counter_verb::add)
        return there ? release(*there, what) : change_verdict{.refused = not_set};
    change_verdict outcome;
    outcome.what.done = what.verb == counter_verb::erase && erase(what.name);
    return outcome;
}

/// Returns how long clients may still wait for permits under the present rate, before a new rate is
/// set. This time follows from the limiter's expiry. If the limiter never expires, clients wait for
/// at most one interval. Returns nothing if no client waits.
std::optional<duration> rate_table::wait_under_rate(const limiter& there) const {
    const duration kept = there.how.kept;
    if (kept == duration::zero())
        return there.how.per;
    const duration wait = clock_.left(there.ends_at).value_or(kept) - std::max(kept, waiter_needs);
    return wait > duration::zero() ? std::optional{wait} : std::nullopt;
}

/// Sets the rate. Forgets all draws (granted requests) that count against the rate of all clients
/// together. Also forgets this client's draws that count against its own rate.
change_verdict rate_table::set(const counter_change& what) {
    std::optional<duration> wait;
    if (limiter* const before = find(what.name)) {
        wait = wait_under_rate(*before);
        remove_expired_draws(*before); // they must not count again under a longer interval
    }
    limiter& made = limiters_[what.name.text];
    made.how = what.to;
    made.ends_at =
        what.to.kept > duration::zero() ? clock_.end_of(what.to.kept) : microseconds::max();
    keep_for_waiter(made, wait);
    made.drawn.erase(drawer{});
    made.drawn.erase(what.request.client);
    use(made);
    change_verdict outcome;
    outcome.what.done = true;
    outcome.what.value = what.to.permits;
    return outcome;
}

/// Gives permits back by removing the latest draws (granted requests). The earlier draws expire as
/// before.
change_verdict rate_table::release(limiter& there, const counter_change& what) {
    use(there);
    draws& all = there.drawn[drawer_of(there, what.request.client)];
    std::int64_t left = what.amount;
    while (left > 0 && !all.empty()) {
        const std::int64_t part = std::min(left, all.back().permits);
        left -= part;
        all.back().permits -= part;
        if (all.back().permits == 0)
            all.pop_back();
    }
    change_verdict outcome;
    outcome.what.done = true;
    outcome.what.value = std::max<std::int64_t>(free_in(there, what.request.client), 0);
    return outcome;
}

counter_state rate_table::state(const lock_name& name, const drawer& client) const {
    const limiter* const there = find(name);
    counter_state found;
    found.exists = there != nullptr;
    if (there) {
        found.value = std::max<std::int64_t>(free_in(*there, client), 0);
        found.of = there->how;
    }
    return found;
}

/// Returns the number of free permits. The number is negative if the rate was lowered after permits
/// were drawn.
std::int64_t rate_table::free_in(const limiter& there, const drawer& client) const {
    std::int64_t free = there.how.permits;
    const auto all = there.drawn.find(drawer_of(there, client));
    if (all == there.drawn.end())
        return free;
    for (const draw& each : all->second)
        if (!clock_.is_over(counts_until(there, each)))
            free -= each.permits;
    return free;
}

microseconds rate_table::counts_until(const limiter& there, const draw& each) {
    return each.at + there.how.per;
}

rate_table::drawer rate_table::drawer_of(const limiter& there, const drawer& client) {
    return there.how.scope == rate::scope_of::per_client ? client : drawer{};
}

/// Records that the limiter is in use. From now on, the limiter exists for at least the time
/// `kept`, or for as long as a waiting client needs it. Also removes expired draws.
void rate_table::use(limiter& there) {
    if (there.how.kept > duration::zero())
        there.ends_at = std::max(there.ends_at, clock_.end_of(there.how.kept));
    remove_expired_draws(there);
}

void rate_table::remove_expired_draws(limiter& there) const {
    const auto is_over = [&](const draw& each) {
        return clock_.is_over(counts_until(there, each));
    };
    for (auto& [who, all] : there.drawn)
        std::erase_if(all, is_over);
}

rate_table::limiter* rate_table::find(const lock_name& name) {
    return find_living(limiters_, name, clock_);
}

const rate_table::limiter* rate_table::find(const lock_name& name) const {
    const auto found = limiters_.find(name.text);
    const bool is_there = found != limiters_.end() && !clock_.is_over(found->second.ends_at);
    return is_there ? &found->second : nullptr;
}

std::vector<std::string> rate_table::names() const {
    std::vector<std::string> all;
    for (const auto& [name, each] : limiters_)
        if (!clock_.is_over(each.ends_at))
            all.push_back(name);
    return all;
}

bool rate_table::erase(const lock_name& name) {
    return find(name) && limiters_.erase(name.text) == 1;
}

void rate_table::clear() {
    limiters_.clear();
    requests_.clear();
}

} // namespace holdfast::memory
