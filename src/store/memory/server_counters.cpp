// SPDX-License-Identifier: Apache-2.0
// What the server does with its counters.
#include "store/memory/ear.hpp"
#include "store/memory/server_state.hpp"

#include <utility>

namespace holdfast::memory {

template <typename Act>
auto server::state::on_record(const lock_name& name, count_record what, Act act) {
    if (!keeps_record_)
        return act();
    what.before = counters_.value(name);
    auto outcome = act();
    what.after = counters_.value(name);
    what.at = clock_.now();
    keeps_record_(what);
    return outcome;
}

count_verdict server::state::count(const counter_ask& want, std::optional<microseconds> deadline,
                                   duration memory) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.said = verdict::late};
    if (lock_is_there(want.name))
        return {.wrong_type = true};
    return on_record(want.name, {.taken = &want}, [&] { return counters_.look(want, memory); });
}

void server::state::give_back(const counter_ask& want, duration memory) {
    const guard lock_it{mutex_};
    const change_verdict given = on_record(want.name, {.given_back = &want},
                                           [&] { return counters_.take_back(want, memory); });
    tell_of_count(want.name, want.kind, given.rings);
}

change_verdict server::state::change(const counter_change& what,
                                     std::optional<microseconds> deadline, duration memory) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.late = true};
    if (lock_is_there(what.name))
        return {.wrong_type = true};
    change_verdict outcome =
        on_record(what.name, {.changed = &what}, [&] { return counters_.change(what, memory); });
    tell_of_count(what.name, what.kind, outcome.rings);
    outcome.what.others_listen = ears_.count(channel_of(what.name, what.kind).text) > 0;
    return outcome;
}

/// A latch that opens is told to all; permits to those first who can have what they want.
void server::state::tell_of_count(const lock_name& name, counter_kind kind,
                                  std::int64_t available) const {
    const auto [first, last] = ears_.equal_range(channel_of(name, kind).text);
    for (auto each = first; each != last && available > 0; ++each) {
        const ear& listener = *each->second;
        if (kind == counter_kind::semaphore && listener.wanted() > available)
            continue;
        if (kind == counter_kind::semaphore)
            available -= listener.wanted();
        listener.tell();
    }
}

counter_state server::state::inspect_counter(const lock_name& name, counter_kind kind) const {
    const guard lock_it{mutex_};
    const std::optional<std::int64_t> value = counters_.value(name);
    return {.exists = value.has_value(),
            .value = value.value_or(0),
            .listeners = ears_.count(channel_of(name, kind).text)};
}

bool server::state::lock_is_there(const lock_name& name) const {
    return holding_of(name).has_value();
}

bool server::state::is_lock(const lock_name& name) const {
    const guard lock_it{mutex_};
    return lock_is_there(name);
}

void server::state::stranger_changes(const counter_change& what) {
    const guard lock_it{mutex_};
    const change_verdict outcome =
        on_record(what.name, {.changed = &what}, [&] { return counters_.carry_out(what); });
    tell_of_count(what.name, what.kind, outcome.rings);
}

std::size_t server::state::requests_remembered() const {
    const guard lock_it{mutex_};
    return counters_.requests_remembered();
}

void server::state::tell_of_counts(std::function<void(const count_record&)> told) {
    const guard lock_it{mutex_};
    keeps_record_ = std::move(told);
}

void server::state::forget_requests() {
    const guard lock_it{mutex_};
    counters_.forget_requests();
}

void server::state::count_down_twice() {
    const guard lock_it{mutex_};
    counters_.count_down_twice();
}

} // namespace holdfast::memory
