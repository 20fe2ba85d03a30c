// SPDX-License-Identifier: Apache-2.0
#include "store/memory/server_state.hpp"

#include "store/memory/ear.hpp"

#include <algorithm>
#include <utility>

#include <fnmatch.h>

namespace holdfast::memory {
namespace {

constexpr const char* foreign_owner = "foreign";

} // namespace

server::state::state(std::function<time_point()> clients_clock)
    : clock_{std::move(clients_clock)} {}

bool server::state::comes_late(std::optional<microseconds> deadline) const {
    return deadline && clock_.now() > *deadline && !deadlines_ignored_;
}

verdict_on_look server::state::look(const ask& want, std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.said = verdict::late};
    if (want.kind != lock_kind::fair)
        return locks_.look(want);
    fair_table::owners told;
    const verdict_on_look answer = fair_.look(want, told);
    tell(want.name, told);
    return answer;
}

std::vector<bool> server::state::renew(const std::vector<hold>& holds, duration lease_time) {
    const guard lock_it{mutex_};
    std::vector<bool> still_held;
    for (const hold& each : holds)
        still_held.push_back(locks_.renew(each, lease_time));
    return still_held;
}

release_answer server::state::release(const hold& what) {
    const guard lock_it{mutex_};
    if (what.kind == lock_kind::fair) {
        fair_table::owners told;
        const bool was_held = fair_.release(what, told);
        tell(what.name, told);
        return {.was_ours = was_held, .others_listen = !told.empty()};
    }
    if (!locks_.release(what))
        return {};
    tell(what.name);
    return {.was_ours = true, .others_listen = ears_.count(what.name.text) > 0};
}

std::optional<holding> server::state::inspect(const lock_name& name) const {
    const guard lock_it{mutex_};
    return locks_.inspect(name);
}

std::optional<lock_state> server::state::state_of(const lock_name& name) const {
    const std::optional<holding> held = locks_.inspect(name);
    if (!held)
        return std::nullopt;
    lock_state told;
    told.name = name.text;
    told.type = "lock";
    for (const std::string& owner : held->owners)
        told.owners.push_back({.text = owner, .is_holdfast = owner != foreign_owner});
    told.remaining = held->remaining;
    told.listeners = ears_.count(name.text);
    return told;
}

std::optional<lock_state> server::state::describe(const lock_name& name) const {
    const guard lock_it{mutex_};
    return state_of(name);
}

lock_list server::state::list(const std::string& pattern, std::size_t limit) const {
    const guard lock_it{mutex_};
    lock_list all;
    for (const std::string& name : locks_.held()) {
        if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0)
            continue;
        if (all.locks.size() == limit) {
            all.complete = false;
            break;
        }
        if (std::optional<lock_state> told = state_of(name))
            all.locks.push_back(std::move(*told));
    }
    return all;
}

forced_verdict server::state::force(const lock_name& name, const std::string& only_from,
                                    std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.late = true};
    const std::optional<holding> held = locks_.inspect(name);
    if (!held)
        return {};
    forced what{.owners = held->owners};
    const bool is_meant = only_from.empty() || held->owners.front() == only_from;
    what.was_locked = is_meant && locks_.erase(name);
    if (what.was_locked) {
        tell(name);
        tell(name, fair_.next(name));
    }
    return {.what = std::move(what)};
}

microseconds server::state::now() const {
    const guard lock_it{mutex_};
    return clock_.now();
}

void server::state::tell(const lock_name& name) const {
    const auto [first, last] = ears_.equal_range(name.text);
    for (auto each = first; each != last; ++each)
        each->second->tell();
}

void server::state::tell(const lock_name& name, const fair_table::owners& whom) const {
    for (const std::string& owner : whom)
        tell(channel_of(name, owner));
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
    fair_.clear();
}

bool server::state::forget(const lock_name& name) {
    const guard lock_it{mutex_};
    return locks_.erase(name);
}

void server::state::occupy(const lock_name& name, duration lease_time) {
    const guard lock_it{mutex_};
    locks_.occupy(name, foreign_owner, lease_time);
}

bool server::state::vacate(const lock_name& name) {
    return stranger_releases(name, foreign_owner);
}

bool server::state::stranger_releases(const lock_name& name, const std::string& owner) {
    const guard lock_it{mutex_};
    const std::optional<holding> held = locks_.inspect(name);
    if (!held || held->owners.front() != owner || !locks_.erase(name))
        return false;
    tell(name);
    tell(name, fair_.next(name)); // as a JVM does that held it as a fair lock
    return true;
}

duration server::state::stranger_waits() const {
    const guard lock_it{mutex_};
    return fair_.jvm_wait();
}

bool server::state::stranger_takes_or_queues(const lock_name& name, const std::string& owner,
                                             duration wait, duration lease) {
    const guard lock_it{mutex_};
    return fair_.stranger_takes_or_queues(name, owner, wait, lease);
}

void server::state::stranger_leaves(const lock_name& name, const std::string& owner,
                                    duration wait) {
    const guard lock_it{mutex_};
    fair_.stranger_leaves(name, owner, wait);
}

std::vector<std::string> server::state::waiting(const lock_name& name) const {
    const guard lock_it{mutex_};
    return fair_.waiting(name);
}

std::vector<std::string> server::state::counting(const lock_name& name) const {
    const guard lock_it{mutex_};
    return fair_.counting(name);
}

std::size_t server::state::held_count() const {
    const guard lock_it{mutex_};
    return locks_.held().size();
}

std::size_t server::state::listener_count() const {
    const guard lock_it{mutex_};
    return ears_.size();
}

void server::state::ignore_deadlines() {
    const guard lock_it{mutex_};
    deadlines_ignored_ = true;
}

void server::state::set(const fair_rules& how) {
    const guard lock_it{mutex_};
    fair_.set(how);
}

} // namespace holdfast::memory
