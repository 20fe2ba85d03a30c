// SPDX-License-Identifier: Apache-2.0
#include "store/memory/permit_table.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::memory {

verdict_on_look permit_table::look(const ask& want) {
    pool* const here = find(want.name);
    if (!here)
        return {.said = verdict::busy};
    const std::vector<std::string> ids = ids_of(want);
    here->over.clear();
    const auto is_missing = [here](const std::string& id) { return !here->held.contains(id); };
    const std::int64_t missing = std::ranges::count_if(ids, is_missing);
    // Permits that are already held stay held, even if the number of free permits becomes negative.
    if (missing > 0 && here->free < missing) {
        // Take all permits or none: a part of the permits would be of no use to the owner.
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
    pools_[name.text].free = after;
    outcome.rings = amount > 0 ? after : 0;
    return outcome;
}

change_verdict permit_table::change_held(const counter_change& what) {
    pool* const here = find(what.name);
    change_verdict outcome;
    const auto found = here ? here->held.find(what.permit) : decltype(here->held.end()){};
    if (!here || found == here->held.end()) {
        if (here && what.verb == counter_verb::give_back)
            here->over.erase(what.permit);
        outcome.what.value = here ? here->free : 0;
        return outcome;
    }
    const bool ends = what.verb != counter_verb::set_lease;
    if (ends && here->free == counted_max) {
        outcome.what.beyond = true;
        outcome.what.value = here->free;
        return outcome;
    }
    outcome.what.done = true;
    if (!ends) {
        found->second = clock_.end_of(what.kept);
    } else {
        here->held.erase(found);
        outcome.rings = ++here->free;
    }
    outcome.what.value = here->free;
    return outcome;
}

std::optional<counter_state> permit_table::inspect(const lock_name& name) const {
    const auto found = pools_.find(name.text);
    if (found == pools_.end() || clock_.is_over(found->second.ends_at))
        return std::nullopt;
    pool now = found->second;
    take_back_expired(now);
    return counter_state{
        .exists = true, .value = now.free, .taken = static_cast<std::int64_t>(now.held.size())};
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

} // namespace holdfast::memory
