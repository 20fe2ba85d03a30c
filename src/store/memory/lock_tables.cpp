// SPDX-License-Identifier: Apache-2.0
#include "store/memory/lock_tables.hpp"

#include <algorithm>

namespace holdfast::memory {

verdict_on_look exclusive_table::look(const ask& want) {
    const std::string owner = to_string(want.owner);
    lock* held = find(want.name);
    const bool is_new = !held;
    if (is_new)
        held = &locks_.emplace(want.name.text, lock{owner, microseconds::min(), 0}).first->second;
    if (held->owner != owner) {
        if (want.kind == lock_kind::spin && want.waits)
            spinners_[want.name.text][want.owner.client] = clock_.now() + want.outlasts;
        return {verdict::busy, clock_.left(held->ends_at)};
    }
    held->ends_at = std::max(held->ends_at, clock_.end_of(want.lease_time));
    verdict_on_look granted{.said = verdict::granted};
    if (want.kind == lock_kind::fenced) {
        const std::uint64_t last = is_new ? reserve_tokens(want) : last_token(want.name);
        granted.token = last + 1 - want.tokens;
        held->token = want.tokens == 1 ? granted.token : 0;
    }
    return granted;
}

std::uint64_t exclusive_table::reserve_tokens(const ask& want) {
    std::uint64_t& last = last_tokens_[want.name.text];
    if (want.numbers == fencing::dated)
        last = std::max(last, static_cast<std::uint64_t>(clock_.now().count()) - 1);
    return last += want.tokens;
}

std::uint64_t exclusive_table::token(const lock_name& name) const {
    const auto found = locks_.find(name.text);
    return found == locks_.end() || is_over(found->second) ? 0 : found->second.token;
}

std::uint64_t exclusive_table::last_token(const lock_name& name) const {
    const auto found = last_tokens_.find(name.text);
    return found == last_tokens_.end() ? 0 : found->second;
}

bool exclusive_table::renew(const hold& what, duration lease_time) {
    lock* const held = find_of(what);
    if (held)
        held->ends_at = std::max(held->ends_at, clock_.end_of(lease_time));
    return held != nullptr;
}

bool exclusive_table::release(const hold& what) {
    if (!find_of(what))
        return false;
    locks_.erase(what.name.text);
    if (const auto all = spinners_.find(what.name.text); all != spinners_.end()) {
        all->second.erase(what.owner.client);
        std::erase_if(all->second,
                      [this](const auto& each) { return clock_.is_over(each.second); });
        if (all->second.empty())
            spinners_.erase(all);
    }
    return true;
}

bool exclusive_table::transfer(const hold& what, const owner_id& to, duration lease_time) {
    lock* const held = find(what.name);
    const std::string new_owner = to_string(to);
    if (!held || (held->owner != to_string(what.owner) && held->owner != new_owner))
        return false;
    const bool is_repeated = std::exchange(held->owner, new_owner) == new_owner;
    const microseconds end = clock_.end_of(lease_time);
    held->ends_at = is_repeated ? std::max(held->ends_at, end) : end;
    return true;
}

bool exclusive_table::others_spin(const hold& what) const {
    return what.kind == lock_kind::spin && spinners_.contains(what.name.text);
}

void exclusive_table::prolong(const owner_id& owner, microseconds end) {
    for (auto& [name, held] : locks_)
        if (!is_over(held) && is_of_client(held.owner, owner))
            held.ends_at = std::max(held.ends_at, end);
}

std::optional<holding> exclusive_table::inspect(const lock_name& name) const {
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || is_over(found->second))
        return std::nullopt;
    holding told;
    told.owners.push_back(found->second.owner);
    told.remaining = clock_.left(found->second.ends_at);
    return told;
}

std::optional<duration> exclusive_table::left_of(const lock_name& name,
                                                 const std::string& owner) const {
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || found->second.owner != owner || is_over(found->second))
        return std::nullopt;
    return clock_.left(found->second.ends_at).value_or(duration::max());
}

std::vector<std::string> exclusive_table::held() const {
    std::vector<std::string> names;
    for (const auto& [name, held] : locks_)
        if (!is_over(held))
            names.push_back(name);
    return names;
}

void exclusive_table::occupy(const lock_name& name, std::string owner, duration lease_time) {
    locks_.insert_or_assign(name.text, lock{std::move(owner), clock_.end_of(lease_time), 0});
}

bool exclusive_table::erase(const lock_name& name) {
    return find(name) && locks_.erase(name.text) == 1;
}

void exclusive_table::clear() {
    locks_.clear();
    last_tokens_.clear();
    spinners_.clear();
}

exclusive_table::lock* exclusive_table::find(const lock_name& name) {
    return find_living(locks_, name, clock_);
}

exclusive_table::lock* exclusive_table::find_of(const hold& what) {
    lock* const held = find(what.name);
    return held && held->owner == to_string(what.owner) ? held : nullptr;
}

namespace {

std::string owner_beside(const ask& want) {
    return to_string(owner_id{want.owner.client, want.under});
}

/// Returns whether the owner belongs to a holdfast client. Each reader of a holdfast client has a
/// timer, which shows when its hold ends. A reader of another program may have no timer.
bool is_ours(const std::string& owner) {
    return owner.find(':') != std::string::npos;
}

} // namespace

verdict_on_look shared_table::look(const ask& want) {
    return want.kind == lock_kind::read ? look_to_read(want) : look_to_write(want);
}

verdict_on_look shared_table::look_to_read(const ask& want) {
    const lock* const held = find(want.name);
    if (held && held->readers.contains(to_string(want.owner)))
        return let_read(want);
    if (want.under != 0) {
        const bool stands = held && held->writer == owner_beside(want);
        return stands ? let_read(want) : verdict_on_look{.said = verdict::unfounded};
    }
    if (held && !held->writer.empty())
        return busy(*held);
    if (const waiting* const before = find_waiting(want.name)) {
        if (!held)
            cut_to_head_start(want.name);
        return {verdict::busy,
                clock_.left(held ? std::min(held->ends_at, before->ends_at) : before->ends_at)};
    }
    return let_read(want);
}

verdict_on_look shared_table::let_read(const ask& want) {
    const lock* const before = find(want.name);
    verdict_on_look granted{.said = verdict::granted};
    if (before)
        granted.left = clock_.left(before->ends_at);
    lock& held = locks_[want.name.text];
    const microseconds end = clock_.end_of(want.lease_time);
    microseconds& timer = held.readers[to_string(want.owner)];
    timer = std::max(timer, end);
    held.ends_at = std::max(held.ends_at, end);
    return granted;
}

verdict_on_look shared_table::look_to_write(const ask& want) {
    lock* held = find(want.name);
    const std::string owner = to_string(want.owner), base = owner_beside(want);
    const microseconds end = clock_.end_of(want.lease_time);
    if (held && held->writer == owner) {
        held->ends_at = std::max(held->ends_at, end);
        return {.said = verdict::granted};
    }
    const bool stands = held && held->readers.contains(base);
    if (want.under != 0 && !stands)
        return {.said = verdict::unfounded};
    if (held && !held->writer.empty())
        return busy(*held);
    if (held)
        sweep(*held, base);
    const bool alone = !held || held->readers.size() == (stands ? 1U : 0U);
    if (alone) {
        if (!held)
            held = &locks_[want.name.text];
        held->writer = owner;
        held->ends_at = stands ? std::max(held->ends_at, end) : end;
        waiting_.erase(want.name.text);
        return {.said = verdict::granted};
    }
    if (meets_another_upgrade(*held, want))
        return {.said = verdict::conflict};
    if (want.waits)
        leave_mark(want);
    return busy(*held);
}

verdict_on_look shared_table::busy(const lock& held) const {
    return {verdict::busy, clock_.left(held.ends_at)};
}

void shared_table::sweep(lock& held, const std::string& asker) const {
    std::erase_if(held.readers, [&](const auto& reader) {
        return reader.first != asker && is_ours(reader.first) && clock_.is_over(reader.second);
    });
}

bool shared_table::meets_another_upgrade(const lock& held, const ask& want) const {
    const auto found = waiting_.find(want.name.text);
    if (want.under == 0 || found == waiting_.end() || clock_.is_over(found->second.ends_at))
        return false;
    const auto waits_for_us = [&](const auto& each) {
        const mark& its = each.second;
        return its.beside != owner_beside(want) && held.readers.contains(its.beside) &&
               !clock_.is_over(its.until);
    };
    return std::any_of(found->second.marks.begin(), found->second.marks.end(), waits_for_us);
}

void shared_table::leave_mark(const ask& want) {
    if (!find_waiting(want.name))
        waiting_[want.name.text] = {};
    waiting& all = waiting_[want.name.text];
    const microseconds until = clock_.now() + want.outlasts;
    // Do not shorten the expiry: another writer may wait longer.
    all.ends_at = std::max(all.ends_at, until);
    all.head_start = std::max(all.head_start, want.head_start);
    all.marks.insert_or_assign(to_string(want.owner),
                               mark{until, want.under == 0 ? std::string{} : owner_beside(want)});
}

/// Removes the mark of a waiting writer. Returns true if this mark was the lock's last mark.
bool shared_table::withdraw(const hold& what) {
    waiting* const all = find_waiting(what.name);
    if (!all || all->marks.erase(to_string(what.owner)) == 0 || !all->marks.empty())
        return false;
    waiting_.erase(what.name.text);
    return true;
}

void shared_table::cut_to_head_start(const lock_name& name) {
    if (waiting* const all = find_waiting(name))
        all->ends_at = std::min(all->ends_at, clock_.now() + all->head_start);
}

bool shared_table::renew(const hold& what, duration lease_time) {
    lock* const held = find(what.name);
    const std::string owner = to_string(what.owner);
    if (!held)
        return false;
    if (what.kind == lock_kind::write) {
        if (held->writer == owner)
            held->ends_at = std::max(held->ends_at, clock_.end_of(lease_time));
        return held->writer == owner;
    }
    const auto reader = held->readers.find(owner);
    if (reader == held->readers.end())
        return false;
    if (lease_time == duration::zero() && clock_.is_over(reader->second))
        return false; // this hold has expired, but other holds keep the lock
    reader->second = std::max(reader->second, clock_.end_of(lease_time));
    held->ends_at = std::max(held->ends_at, reader->second);
    return true;
}

std::optional<duration> shared_table::left_of(const hold& what) const {
    const auto found = locks_.find(what.name.text);
    if (found == locks_.end())
        return std::nullopt;
    const lock& held = found->second;
    const auto reader = held.readers.find(to_string(what.owner));
    const bool reads = what.kind == lock_kind::read && reader != held.readers.end();
    const microseconds end = reads ? std::min(held.ends_at, reader->second) : held.ends_at;
    return clock_.left(std::max(end, clock_.now()));
}

bool shared_table::cut_readers(const lock_name& name, duration lease_time) {
    lock* const held = find(name);
    if (!held || held->readers.empty() || !held->writer.empty())
        return false;
    held->ends_at = clock_.end_of(lease_time);
    for (auto& [owner, timer] : held->readers)
        timer = held->ends_at;
    return true;
}

void shared_table::prolong(const owner_id& owner, microseconds end) {
    for (auto& [name, held] : locks_) {
        if (clock_.is_over(held.ends_at))
            continue;
        bool is_its = is_of_client(held.writer, owner);
        for (auto& [reader, timer] : held.readers)
            if (is_of_client(reader, owner) && !clock_.is_over(timer)) {
                timer = std::max(timer, end);
                is_its = true;
            }
        if (is_its)
            held.ends_at = std::max(held.ends_at, end);
    }
}

bool shared_table::transfer_write(const hold& what, const owner_id& to, duration lease_time) {
    lock* const held = find(what.name);
    const std::string new_owner = to_string(to);
    if (!held || (held->writer != to_string(what.owner) && held->writer != new_owner))
        return false;
    const bool is_repeated = std::exchange(held->writer, new_owner) == new_owner;
    const microseconds end = clock_.end_of(lease_time);
    held->ends_at = is_repeated ? std::max(held->ends_at, end) : end;
    return true;
}

left_verdict shared_table::release(const hold& what) {
    return what.kind == lock_kind::read ? release_read(what) : release_write(what);
}

left_verdict shared_table::release_read(const hold& what) {
    lock* const held = find(what.name);
    if (!held || held->readers.erase(to_string(what.owner)) == 0)
        return {};
    if (!held->writer.empty())
        return {.was_ours = true};
    const microseconds longest = longest_timer(*held);
    if (!clock_.is_over(longest)) {
        held->ends_at = longest;
        return {.was_ours = true, .is_told = find_waiting(what.name) != nullptr};
    }
    locks_.erase(what.name.text);
    cut_to_head_start(what.name);
    return {.was_ours = true, .is_told = true};
}

left_verdict shared_table::release_write(const hold& what) {
    const bool withdrawn = withdraw(what);
    lock* const held = find(what.name);
    if (!held || held->writer != to_string(what.owner))
        return {.is_told = withdrawn};
    const microseconds longest = longest_timer(*held);
    if (!clock_.is_over(longest)) {
        held->writer.clear();
        held->ends_at = longest;
    } else {
        locks_.erase(what.name.text);
    }
    return {.was_ours = true, .is_told = true};
}

microseconds shared_table::longest_timer(const lock& held) const {
    microseconds longest = microseconds::min();
    for (const auto& [owner, timer] : held.readers)
        longest = std::max(longest, timer);
    return longest;
}

std::optional<holding> shared_table::inspect(const lock_name& name) const {
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || clock_.is_over(found->second.ends_at))
        return std::nullopt;
    const lock& held = found->second;
    holding told;
    told.alone = !held.writer.empty();
    if (told.alone)
        told.owners.push_back(held.writer);
    for (const auto& [owner, timer] : held.readers)
        if (!is_ours(owner) || !clock_.is_over(timer))
            told.owners.push_back(owner);
    told.shared = told.owners.size() > (told.alone ? 1U : 0U);
    if (told.owners.empty())
        return std::nullopt; // all readers of the lock are dead
    told.remaining = clock_.left(held.ends_at);
    return told;
}

std::vector<lock_owner> shared_table::owners(const lock_name& name) const {
    const lock& held = locks_.at(name.text);
    std::vector<lock_owner> all;
    if (!held.writer.empty())
        all.push_back({.text = held.writer, .is_holdfast = is_ours(held.writer), .writes = true});
    for (const auto& [owner, timer] : held.readers) {
        lock_owner& told = all.emplace_back(lock_owner{.text = owner});
        told.is_holdfast = is_ours(owner);
        if (told.is_holdfast || !clock_.is_over(timer))
            told.remaining = clock_.left(std::max(timer, clock_.now()));
    }
    return all;
}

std::vector<lock_waiter> shared_table::waiting_writers(const lock_name& name) const {
    std::vector<lock_waiter> all;
    const auto found = waiting_.find(name.text);
    if (found == waiting_.end() || clock_.is_over(found->second.ends_at))
        return all;
    for (const auto& [owner, its] : found->second.marks)
        if (!clock_.is_over(its.until))
            all.push_back({.text = owner,
                           .is_holdfast = true,
                           .remaining = clock_.left(std::min(its.until, found->second.ends_at))});
    return all;
}

std::vector<std::string> shared_table::held() const {
    std::vector<std::string> names;
    for (const auto& [name, each] : locks_)
        if (inspect(name))
            names.push_back(name);
    return names;
}

void shared_table::occupy(const lock_name& name, const std::string& owner, lock_kind kind,
                          duration lease_time) {
    lock* held = find(name);
    if (!held || kind == lock_kind::write || !held->writer.empty())
        held = &locks_.insert_or_assign(name.text, lock{}).first->second;
    const microseconds end = clock_.end_of(lease_time);
    held->ends_at = std::max(held->ends_at, end);
    if (kind == lock_kind::write)
        held->writer = owner;
    else
        held->readers[owner] = end;
}

bool shared_table::vacate(const lock_name& name, const std::string& owner) {
    lock* const held = find(name);
    if (!held || (held->writer != owner && held->readers.erase(owner) == 0))
        return false;
    if (held->writer == owner || held->readers.empty())
        locks_.erase(name.text);
    return true;
}

bool shared_table::erase(const lock_name& name) {
    return find(name) && locks_.erase(name.text) == 1;
}

void shared_table::clear() {
    locks_.clear();
    waiting_.clear();
}

shared_table::lock* shared_table::find(const lock_name& name) {
    return find_living(locks_, name, clock_);
}

shared_table::waiting* shared_table::find_waiting(const lock_name& name) {
    return find_living(waiting_, name, clock_);
}

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
            // Notify the next owner, because that owner may have missed its notification. A
            // Redisson client that gives up after its own notification does not notify the waiter
            // behind it.
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
    // Notify the next waiter even if the lease of this hold has ended. Otherwise that waiter might
    // sleep too long: its last request may have seen an earlier hold with a longer lease.
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
    (void)read_waiting(name, all);
    return all;
}

bool fair_table::read_waiting(const lock_name& name, owners& known) const {
    const auto found = queues_.find(name.text);
    const std::size_t count = found == queues_.end() ? 0 : found->second.size();
    bool differs = known.size() != count;
    known.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& owner = found->second[i].owner;
        if (known[i] == owner)
            continue;
        known[i] = owner;
        differs = true;
    }
    return differs;
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

/// Returns the index of the first waiter that stays in the queue: the waiter `me`, or a waiter that
/// has not expired. The caller must remove all waiters before it. One request removes at most one
/// Redisson client, and only if this client is the first waiter.
std::size_t fair_table::first_in(const queue& waiting, const std::string& me) const {
    std::size_t i = 0;
    while (i < waiting.size() && waiting[i].owner != me && waiting[i].until <= clock_.now() &&
           (i == 0 || waiting[i].is_ours))
        ++i;
    return i;
}

/// Removes the first `count` waiters, and begins the turn of the next waiter. If the next waiter is
/// `me`, begins no turn, because `me` has sent the present request.
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
    // Compute the end of the waiter's time in the queue anew, and not from its old value. Redisson
    // clients may have left the queue meanwhile, and Redisson then subtracts too little or nothing
    // from the old value.
    mine->until = clock_.now() + want.outlasts + jvms * jvm_wait_;
}

/// Begins the turn of the next waiter, and limits the waiter's time in the queue. A Redisson client
/// gets its whole wait, counted from when the lock becomes free. The time that Redisson has stored
/// may be too long. It contains the waits of all earlier waiters, and Redisson subtracts too little
/// when they leave. A holdfast client gets at most the time in its own request. Its stored time
/// also contains the waits of the Redisson clients in front of it.
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
