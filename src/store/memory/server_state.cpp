// SPDX-License-Identifier: Apache-2.0
#include "store/memory/server_state.hpp"

#include "store/memory/ear.hpp"

#include <algorithm>
#include <utility>

#include <fnmatch.h>

namespace holdfast::memory {
namespace {

constexpr const char* foreign_owner = "foreign";

/// A lease longer than a hundred years is one without an end.
constexpr duration lease_without_end = std::chrono::hours{24 * 36525};

std::optional<duration> left_until(microseconds end, microseconds now) {
    if (end == microseconds::max())
        return std::nullopt;
    return std::chrono::ceil<duration>(end - now);
}

} // namespace

server::state::state(std::function<time_point()> clients_clock)
    : clock_{std::move(clients_clock)} {}

verdict_on_look server::state::look(const ask& want, std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (deadline && clock_.now() > *deadline && !deadlines_ignored_)
        return {.said = verdict::late};
    const std::string owner = to_string(want.owner);
    lock* held = find(want.name);
    if (!held)
        held = &locks_.emplace(want.name.text, lock{owner, microseconds::min()}).first->second;
    if (held->owner != owner)
        return {verdict::busy, left_until(held->ends_at, clock_.now())};
    held->ends_at = std::max(held->ends_at, end_of(want.lease_time));
    return {.said = verdict::granted};
}

std::vector<bool> server::state::renew(const std::vector<hold>& holds, duration lease_time) {
    const guard lock_it{mutex_};
    std::vector<bool> still_held;
    for (const hold& each : holds) {
        lock* const held = find_of(each);
        if (held)
            held->ends_at = std::max(held->ends_at, end_of(lease_time));
        still_held.push_back(held != nullptr);
    }
    return still_held;
}

release_answer server::state::release(const hold& what) {
    const guard lock_it{mutex_};
    if (!find_of(what))
        return {};
    erase_and_tell(what.name);
    return {.was_ours = true, .others_listen = ears_.count(what.name.text) > 0};
}

std::optional<holding> server::state::inspect(const lock_name& name) const {
    const guard lock_it{mutex_};
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || is_over(found->second))
        return std::nullopt;
    return holding{{found->second.owner}, left_until(found->second.ends_at, clock_.now())};
}

lock_state server::state::state_of(const std::string& name, const lock& held) const {
    lock_state told;
    told.name = name;
    told.type = "lock";
    told.owners.push_back({.text = held.owner, .is_holdfast = held.owner != foreign_owner});
    told.remaining = left_until(held.ends_at, clock_.now());
    told.listeners = ears_.count(name);
    return told;
}

std::optional<lock_state> server::state::describe(const lock_name& name) const {
    const guard lock_it{mutex_};
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || is_over(found->second))
        return std::nullopt;
    return state_of(name.text, found->second);
}

lock_list server::state::list(const std::string& pattern, std::size_t limit) const {
    const guard lock_it{mutex_};
    lock_list all;
    for (const auto& [name, held] : locks_) {
        if (is_over(held) || ::fnmatch(pattern.c_str(), name.c_str(), 0) != 0)
            continue;
        if (all.locks.size() == limit) {
            all.complete = false;
            break;
        }
        all.locks.push_back(state_of(name, held));
    }
    return all;
}

forced_verdict server::state::force(const lock_name& name, const std::string& only_from,
                                    std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (deadline && clock_.now() > *deadline && !deadlines_ignored_)
        return {.late = true};
    const lock* const held = find(name);
    if (!held)
        return {};
    forced what{.owners = {held->owner}};
    what.was_locked = only_from.empty() || held->owner == only_from;
    if (what.was_locked)
        erase_and_tell(name);
    return {.what = std::move(what)};
}

microseconds server::state::now() const {
    const guard lock_it{mutex_};
    return clock_.now();
}

server::state::lock* server::state::find(const lock_name& name) {
    const auto found = locks_.find(name.text);
    if (found == locks_.end())
        return nullptr;
    if (!is_over(found->second))
        return &found->second;
    locks_.erase(found);
    return nullptr;
}

server::state::lock* server::state::find_of(const hold& what) {
    lock* const held = find(what.name);
    return held && held->owner == to_string(what.owner) ? held : nullptr;
}

microseconds server::state::end_of(duration lease_time) const {
    if (lease_time > lease_without_end)
        return microseconds::max();
    return clock_.now() + lease_time;
}

void server::state::erase_and_tell(const lock_name& name) {
    locks_.erase(name.text);
    const auto [first, last] = ears_.equal_range(name.text);
    for (auto each = first; each != last; ++each)
        each->second->tell();
}

void server::state::add(ear& listener) {
    const guard lock_it{mutex_};
    ears_.emplace(listener.name().text, &listener);
}

void server::state::remove(ear& listener) {
    const guard lock_it{mutex_};
    const auto [first, last] = ears_.equal_range(listener.name().text);
    ears_.erase(std::find_if(first, last, [&](const auto& e) { return e.second == &listener; }));
}

void server::state::step_clock(duration by) {
    const guard lock_it{mutex_};
    clock_.step(by);
}

void server::state::set_clock_rate(double rate) {
    const guard lock_it{mutex_};
    clock_.set_rate(rate);
}

void server::state::forget_all() {
    const guard lock_it{mutex_};
    locks_.clear();
}

bool server::state::forget(const lock_name& name) {
    const guard lock_it{mutex_};
    return find(name) && locks_.erase(name.text) == 1;
}

void server::state::occupy(const lock_name& name, duration lease_time) {
    const guard lock_it{mutex_};
    locks_.insert_or_assign(name.text, lock{foreign_owner, end_of(lease_time)});
}

bool server::state::vacate(const lock_name& name) {
    const guard lock_it{mutex_};
    const lock* const held = find(name);
    if (!held || held->owner != foreign_owner)
        return false;
    erase_and_tell(name);
    return true;
}

std::size_t server::state::held_count() const {
    const guard lock_it{mutex_};
    return static_cast<std::size_t>(std::count_if(
        locks_.begin(), locks_.end(), [this](const auto& l) { return !is_over(l.second); }));
}

std::size_t server::state::listener_count() const {
    const guard lock_it{mutex_};
    return ears_.size();
}

void server::state::ignore_deadlines() {
    const guard lock_it{mutex_};
    deadlines_ignored_ = true;
}

} // namespace holdfast::memory
