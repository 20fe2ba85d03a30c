// SPDX-License-Identifier: Apache-2.0
#include "store/memory/counter_table.hpp"

#include "store/memory/living.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

count_verdict counter_table::look(const counter_ask& want, duration memory) {
    if (want.kind == counter_kind::latch)
        return look_at_latch(want);
    const counter_answer* const before = requests_.find(want.name, want.request);
    if (before) // after `take_back` the request takes nothing any more
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
    if (const counter_answer* const before = requests_.find(what.name, what.request))
        return {.what = *before};
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
        break; // these changes exist only for leased semaphores and rate limiters
    }
    return {}; // not reached; the compiler needs a return
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

} // namespace holdfast::memory
