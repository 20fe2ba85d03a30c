// SPDX-License-Identifier: Apache-2.0
#include "store/memory/rate_table.hpp"

#include "store/memory/living.hpp"

#include <algorithm>

namespace holdfast::memory {
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

/// Extends the life of the limiter for a waiter. The limiter stays during the wait, and afterwards
/// for `kept` or `waiter_needs`, whichever is longer.
void rate_table::keep_for_waiter(limiter& there, std::optional<duration> wait) const {
    constexpr duration waiter_needs{1000};
    if (there.how.kept > duration::zero() && wait)
        there.ends_at =
            std::max(there.ends_at, clock_.end_of(*wait + std::max(there.how.kept, waiter_needs)));
}

/// Returns the verdict "busy", with the time until enough draws have expired.
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

/// Sets the limiter. Forgets the draws that all clients share, and the draws that this client made
/// for itself.
change_verdict rate_table::set(const counter_change& what) {
    limiter& made = limiters_[what.name.text];
    made.how = what.to;
    made.ends_at =
        what.to.kept > duration::zero() ? clock_.end_of(what.to.kept) : microseconds::max();
    made.drawn.erase(drawer{});
    made.drawn.erase(what.request.client);
    use(made);
    change_verdict outcome;
    outcome.what.done = true;
    outcome.what.value = what.to.permits;
    return outcome;
}

/// Returns permits. Removes the latest draws first, so that the other draws expire at the same time
/// as before.
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

/// Returns the number of permits left. It is negative if the rate was lowered and earlier draws
/// still count.
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

/// Stores that the limiter was used: it now stays for `kept`, or longer if somebody waits. Removes
/// expired draws.
void rate_table::use(limiter& there) {
    if (there.how.kept > duration::zero())
        there.ends_at = std::max(there.ends_at, clock_.end_of(there.how.kept));
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
