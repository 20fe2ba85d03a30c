// SPDX-License-Identifier: Apache-2.0
#include "store/memory/fair_table.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

verdict_on_look fair_table::look(const ask& want, owners& told) {
    ++changes_;
    const std::string me = to_string(want.owner);
    const std::optional<holding> held = locks_.inspect(want.name);
    if (held && held->owners.front() == me)
        return locks_.look(want);
    queue& waiting = queues_[want.name.text];
    const std::size_t first = first_in(waiting, me);
    const bool nobody = first == waiting.size();
    const bool my_turn = nobody || waiting[first].owner == me;
    verdict_on_look answer;
    if (!held && my_turn) {
        answer = locks_.look(want);
        std::erase_if(waiting, [&me](const waiter& each) { return each.owner == me; });
        let_go(want.name, waiting, first, {});
        if (!nobody && !waiting.empty())
            begin_turn(want.name, waiting.front(), true);
    } else {
        if (want.waits)
            take_place(waiting, want, first, answer);
        let_go(want.name, waiting, first, me);
        answer.said = verdict::busy;
        answer.left = held ? held->remaining : std::nullopt;
        if (!held) {
            const waiter& next = waiting.front();
            answer.left = std::max<duration>(
                duration{1}, std::chrono::floor<duration>(next.until - clock_.now()));
            // Notify the next owner, because perhaps nobody did. A JVM does not pass a notification
            // on if it gives up at that moment.
            told.push_back(next.owner);
        }
    }
    forget_if_empty(want.name);
    return answer;
}

bool fair_table::release(const hold& what, owners& told) {
    ++changes_;
    const std::string me = to_string(what.owner);
    const bool was_held = locks_.release(what);
    const auto found = queues_.find(what.name.text);
    if (found == queues_.end())
        return was_held;
    queue& waiting = found->second;
    const bool was_first = waiting.front().owner == me;
    const bool waited =
        std::erase_if(waiting, [&me](const waiter& each) { return each.owner == me; }) > 0;
    if (!waiting.empty())
        begin_turn(what.name, waiting.front(), was_first);
    // Notify also if the lease of this hold had already ended. The next waiter may know only the
    // end of an earlier lease, and would sleep until that end.
    if (is_free(what.name) && (was_held || was_first || !waited))
        told = next(what.name);
    forget_if_empty(what.name);
    return was_held;
}

fair_table::owners fair_table::next(const lock_name& name) const {
    owners all;
    const auto found = queues_.find(name.text);
    if (found == queues_.end())
        return all;
    for (const waiter& each : found->second) {
        all.push_back(each.owner);
        if (each.until > clock_.now())
            break;
    }
    return all;
}

fair_table::owners fair_table::waiting(const lock_name& name) const {
    owners all;
    const auto found = queues_.find(name.text);
    if (found != queues_.end())
        for (const waiter& each : found->second)
            all.push_back(each.owner);
    return all;
}

fair_table::owners fair_table::counting(const lock_name& name) const {
    owners all;
    const auto found = queues_.find(name.text);
    if (found != queues_.end())
        for (const waiter& each : found->second)
            if (each.is_ours && each.until > clock_.now())
                all.push_back(each.owner);
    return all;
}

std::vector<lock_waiter> fair_table::queued(const lock_name& name) const {
    std::vector<lock_waiter> all;
    const auto found = queues_.find(name.text);
    if (found != queues_.end())
        for (const waiter& each : found->second)
            all.push_back({.text = each.owner,
                           .is_holdfast = each.is_ours,
                           .remaining = clock_.left(std::max(each.until, clock_.now()))});
    return all;
}

/// Returns the index of the first waiter that still counts or is `me`. One request removes at most
/// one JVM, and only a JVM that is already the next in turn.
std::size_t fair_table::first_in(const queue& waiting, const std::string& me) const {
    std::size_t i = 0;
    while (i < waiting.size() && waiting[i].owner != me && waiting[i].until <= clock_.now() &&
           (i == 0 || waiting[i].is_ours))
        ++i;
    return i;
}

/// Removes the first `count` waiters, and begins the turn of the next waiter. Does not begin the
/// turn of `me`, because the server is just answering the request of `me`.
void fair_table::let_go(const lock_name& name, queue& waiting, std::size_t count,
                        const std::string& me) const {
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
    if (!waiting.empty() && waiting.front().owner != me)
        begin_turn(name, waiting.front(), count > 0);
}

void fair_table::take_place(queue& waiting, const ask& want, std::size_t first,
                            verdict_on_look& answer) const {
    const std::string me = to_string(want.owner);
    answer.queued = true;
    auto mine = find(waiting, me);
    if (mine == waiting.end()) {
        answer.joined_now = true;
        waiting.push_back({me, {}, want.outlasts, true});
        mine = waiting.end() - 1;
    }
    const auto jvms = std::count_if(waiting.begin() + static_cast<std::ptrdiff_t>(first), mine,
                                    [](const waiter& each) { return !each.is_ours; });
    mine->lasts = want.outlasts;
    // Calculate the time anew instead of changing the old value. A JVM that gives up then subtracts
    // only its own wait, and a removed JVM subtracts nothing.
    mine->until = clock_.now() + want.outlasts + jvms * jvm_wait_;
}

/// Begins the turn of the next waiter. A JVM gets its whole wait from the time when the lock
/// becomes free, but no more. Redisson's sums may be too large: they contain the waits of all
/// earlier waiters, but less is subtracted when those leave. A holdfast client stays in the queue
/// at most for the time in its request; the request added the time of the JVMs before it.
void fair_table::begin_turn(const lock_name& name, waiter& next, bool is_new) const {
    const microseconds now = clock_.now();
    if (next.is_ours) {
        next.until = std::min<microseconds>(next.until, now + next.lasts);
        return;
    }
    if (is_new)
        next.until = std::max<microseconds>(next.until, now + jvm_wait_);
    const std::optional<holding> held = locks_.inspect(name);
    if (!held || held->remaining) {
        const duration left = held ? *held->remaining : duration::zero();
        next.until = std::min<microseconds>(next.until, now + jvm_wait_ + left);
    }
}

bool fair_table::stranger_takes_or_queues(const lock_name& name, const std::string& owner,
                                          duration wait, duration lease) {
    ++changes_;
    queue& waiting = queues_[name.text];
    while (!waiting.empty() && waiting.front().until <= clock_.now())
        waiting.pop_front();
    const bool takes = is_free(name) && (waiting.empty() || waiting.front().owner == owner);
    if (takes) {
        if (!waiting.empty())
            waiting.pop_front();
        for (waiter& each : waiting)
            each.until -= wait;
        locks_.occupy(name, owner, lease);
    } else if (find(waiting, owner) == waiting.end()) {
        const std::optional<holding> held = locks_.inspect(name);
        const microseconds after =
            waiting.empty()
                ? clock_.now() + (held ? held->remaining.value_or(duration{}) : duration{})
                : waiting.back().until;
        waiting.push_back({owner, after + wait, wait, false});
    }
    forget_if_empty(name);
    return takes;
}

void fair_table::stranger_leaves(const lock_name& name, const std::string& owner, duration wait) {
    ++changes_;
    queue& waiting = queues_[name.text];
    const auto mine = find(waiting, owner);
    if (mine != waiting.end()) {
        for (auto behind = mine + 1; behind != waiting.end(); ++behind)
            behind->until -= wait;
        waiting.erase(mine);
    }
    forget_if_empty(name);
}

fair_table::queue::iterator fair_table::find(queue& waiting, const std::string& owner) {
    return std::find_if(waiting.begin(), waiting.end(),
                        [&owner](const waiter& each) { return each.owner == owner; });
}

void fair_table::forget_if_empty(const lock_name& name) {
    const auto found = queues_.find(name.text);
    if (found != queues_.end() && found->second.empty())
        queues_.erase(found);
}

} // namespace holdfast::memory
