// SPDX-License-Identifier: Apache-2.0
// Requests about counters.
#include "store/memory/ear.hpp"
#include "store/memory/server_state.hpp"

#include <type_traits>
#include <utility>

#include <fnmatch.h>

namespace holdfast::memory {

template <typename Act>
auto server::state::on_record(counter_kind kind, const lock_name& name, count_record what,
                              Act act) {
    if (!keeps_record_)
        return act();
    what.before = all_there_are(name, kind);
    auto outcome = act();
    what.after = all_there_are(name, kind);
    if constexpr (std::is_same_v<decltype(outcome), count_verdict>)
        what.granted = outcome.said == verdict::granted;
    else
        what.granted = outcome.what.done;
    what.at = clock_.now();
    keeps_record_(what);
    return outcome;
}

std::optional<std::int64_t> server::state::all_there_are(const lock_name& name,
                                                         counter_kind kind) const {
    if (kind != counter_kind::permits)
        return has_.counters.value(name);
    const std::optional<counter_state> found = has_.permits.inspect(name);
    return found ? std::optional{found->value + found->taken} : has_.counters.value(name);
}

count_verdict server::state::count(const counter_ask& want, std::optional<microseconds> deadline,
                                   duration memory) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.said = verdict::late};
    if (const char* const other = other_than(want.name, words_for(want.kind)))
        return {.other = other};
    count_verdict answer = on_record(want.kind, want.name, {.taken = &want}, [&] {
        return want.kind == counter_kind::rate ? has_.rates.look(want)
                                               : has_.counters.look(want, memory);
    });
    if (answer.said == verdict::granted && want.kind != counter_kind::latch)
        wrote();
    return answer;
}

void server::state::give_back(const counter_ask& want, duration memory) {
    const guard lock_it{mutex_};
    const writing after{*this};
    const change_verdict given = on_record(want.kind, want.name, {.given_back = &want}, [&] {
        return want.kind == counter_kind::rate ? has_.rates.take_back(want)
                                               : has_.counters.take_back(want, memory);
    });
    tell_of_count(want.name, want.kind, given.rings);
}

change_verdict server::state::change(const counter_change& what,
                                     std::optional<microseconds> deadline, duration memory) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.late = true};
    if (const char* const other = other_than(what.name, words_for(what.kind)))
        return {.other = other};
    const writing after{*this};
    if (what.kind == counter_kind::permits)
        become_permits(what.name);
    change_verdict outcome = on_record(what.kind, what.name, {.changed = &what}, [&] {
        return what.kind == counter_kind::permits ? has_.permits.change(what, memory)
               : what.kind == counter_kind::rate  ? has_.rates.change(what, memory)
                                                  : has_.counters.change(what, memory);
    });
    become_number(what.name);
    tell_of_count(what.name, what.kind, outcome.rings);
    outcome.what.others_listen = ears_.count(channel_of(what.name, what.kind).text) > 0;
    return outcome;
}

/// Notifies waiters of a counter. When a latch opens, all its waiters are notified. A semaphore's
/// waiter is notified only if enough permits for its request are free.
void server::state::tell_of_count(const lock_name& name, counter_kind kind,
                                  std::int64_t available) const {
    const auto [first, last] = ears_.equal_range(channel_of(name, kind).text);
    for (auto each = first; each != last && available > 0; ++each) {
        const ear& listener = *each->second;
        if (kind != counter_kind::latch && listener.wanted() > available)
            continue;
        if (kind != counter_kind::latch)
            available -= listener.wanted();
        listener.tell();
    }
}

counter_state server::state::inspect_counter(const lock_name& name, counter_kind kind,
                                             const rate_table::drawer& client) const {
    const guard lock_it{mutex_};
    return state_of_counter(name, kind, client);
}

counter_state server::state::state_of_counter(const lock_name& name, counter_kind kind,
                                              const rate_table::drawer& client) const {
    if (kind == counter_kind::rate)
        return has_.rates.state(name, client); // rate limiters have no subscribers
    counter_state found;
    if (kind == counter_kind::permits && has_.permits.inspect(name)) {
        found = *has_.permits.inspect(name);
    } else if (const std::optional<std::int64_t> value = has_.counters.value(name)) {
        found.exists = true;
        found.value = *value;
    }
    found.listeners = ears_.count(channel_of(name, kind).text);
    return found;
}

counter_list server::state::list_counters(counter_kind kind, const std::string& pattern,
                                          std::size_t limit,
                                          const rate_table::drawer& client) const {
    const guard lock_it{mutex_};
    counter_list all;
    for (const std::string& name : kind == counter_kind::permits ? has_.permits.names()
                                   : kind == counter_kind::rate  ? has_.rates.names()
                                                                 : has_.counters.names()) {
        if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0)
            continue;
        all.complete = all.counters.size() < limit;
        if (!all.complete)
            break;
        all.counters.push_back({name, state_of_counter({name}, kind, client)});
    }
    return all;
}

const char* server::state::other_kind(const lock_name& name, counter_kind kind) const {
    const guard lock_it{mutex_};
    return other_than(name, words_for(kind));
}

verdict_on_look server::state::look_at_permits(const ask& want) {
    become_permits(want.name);
    const verdict_on_look answer = has_.permits.look(want);
    become_number(want.name);
    return answer;
}

/// Moves the number to the table of leased semaphores while a request about leased permits is
/// carried out. The number stays there only if permits are held afterwards.
void server::state::become_permits(const lock_name& name) {
    if (const std::optional<kept_number> kept = has_.counters.take_out(name))
        has_.permits.put(name, *kept);
}

void server::state::become_number(const lock_name& name) {
    if (const std::optional<kept_number> kept = has_.permits.take_out(name))
        has_.counters.put(name, *kept);
}

release_answer server::state::release_permits(const hold& what) {
    become_permits(what.name);
    const permit_table::left said = has_.permits.release(what);
    become_number(what.name);
    tell_of_count(what.name, counter_kind::permits, said.rings);
    return {.was_ours = said.was_ours, .others_listen = ears_.count(channel_of(what).text) > 0};
}

void server::state::stranger_changes(const counter_change& what) {
    const guard lock_it{mutex_};
    const writing after{*this};
    if (what.kind == counter_kind::permits)
        become_permits(what.name);
    const change_verdict outcome = on_record(what.kind, what.name, {.changed = &what}, [&] {
        return what.kind == counter_kind::permits ? has_.permits.carry_out(what)
               : what.kind == counter_kind::rate  ? has_.rates.carry_out(what)
                                                  : has_.counters.carry_out(what);
    });
    become_number(what.name);
    tell_of_count(what.name, what.kind, outcome.rings);
}

void server::state::stranger_takes_permits(const hold& what, duration lease_time) {
    const guard lock_it{mutex_};
    const writing after{*this};
    ask foreign{what.name, what.owner, what.kind};
    foreign.permits = what.permits;
    foreign.lease_time = lease_time;
    (void)look_at_permits(foreign);
}

std::map<std::string, duration> server::state::permits_held(const lock_name& name) const {
    const guard lock_it{mutex_};
    return has_.permits.held(name);
}

std::size_t server::state::requests_remembered() const {
    const guard lock_it{mutex_};
    return has_.counters.requests_remembered();
}

void server::state::tell_of_counts(std::function<void(const count_record&)> told) {
    const guard lock_it{mutex_};
    keeps_record_ = std::move(told);
}

} // namespace holdfast::memory
