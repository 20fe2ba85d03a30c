// SPDX-License-Identifier: Apache-2.0
#include "store/memory/server_state.hpp"

#include "store/memory/connection.hpp"
#include "store/remote/listing.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <type_traits>
#include <utility>

namespace holdfast::memory {

void stream::send(std::uint64_t write, copy all, time_point now) {
    const std::lock_guard lock_it{mutex_};
    if (is_cut_)
        return;
    last_arrival_ = std::max(last_arrival_, now + lag_);
    under_way_.push_back({write, std::move(all), last_arrival_, last_arrival_ + lag_});
    settle(now);
}

void stream::settle(time_point now) {
    if (is_cut_ || is_paused_)
        return;
    for (parcel& each : under_way_) {
        if (each.arrives_at > now)
            break;
        if (each.all) {
            latest_ = std::exchange(each.all, nullptr);
            arrived_ = each.write;
        }
    }
    while (!under_way_.empty() && under_way_.front().known_at <= now) {
        confirmed_ = under_way_.front().write;
        under_way_.pop_front();
    }
}

std::optional<std::uint64_t> stream::confirmed(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return confirmed_;
}

time_point stream::next_confirmation(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return under_way_.empty() || is_paused_ ? time_point::max() : under_way_.front().known_at;
}

stream::copy stream::take_arrived(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return std::exchange(latest_, nullptr);
}

std::optional<std::uint64_t> stream::arrived(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return arrived_;
}

void stream::set_lag(duration lag) {
    const std::lock_guard lock_it{mutex_};
    lag_ = lag;
}

bool stream::is_cut() {
    const std::lock_guard lock_it{mutex_};
    return is_cut_;
}

void stream::cut(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    under_way_.clear();
    is_cut_ = true;
}

void stream::pause(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    is_paused_ = true;
}

void stream::go_on(time_point now) {
    const std::lock_guard lock_it{mutex_};
    is_paused_ = false;
    for (parcel& each : under_way_) {
        if (each.all)
            each.arrives_at = std::max(each.arrives_at, now);
        each.known_at = std::max(each.known_at, now + lag_);
        last_arrival_ = std::max(last_arrival_, each.arrives_at);
    }
    settle(now);
}

namespace {

constexpr const char* foreign_owner = "foreign";

bool can_be_shared(lock_kind kind) {
    return kind == lock_kind::read || kind == lock_kind::write;
}

std::string new_id() {
    static std::atomic<std::uint64_t> last{0};
    return "memory:" + std::to_string(++last);
}

} // namespace

server_state::server_state(std::function<time_point()> clients_clock, std::size_t of_group)
    : number{of_group}
    , id_{new_id()}
    , clock_{std::move(clients_clock)} {}

bool server_state::comes_late(std::optional<microseconds> deadline) const {
    return deadline && clock_.now() > *deadline;
}

verdict_on_look server_state::look(const ask& want, std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.said = verdict::late};
    const verdict_on_look answer = look_at_lock(want);
    const bool is_marked = want.kind == lock_kind::write && answer.said == verdict::busy;
    if (answer.said == verdict::granted || answer.queued || is_marked)
        wrote();
    return answer;
}

verdict_on_look server_state::look_at_lock(const ask& want) {
    if (want.kind == lock_kind::token && may_be_token(want.name))
        return {
            .said = verdict::busy, .left = has_.counters.left(want.name), .holder_tells = false};
    if (const char* const other = other_than(want.name, words_for(want.kind)))
        return {.other = other};
    if (want.kind == lock_kind::permit)
        return look_at_permits(want);
    if (want.kind == lock_kind::token)
        return look_at_token(want);
    if (can_be_shared(want.kind))
        return has_.shared.look(want);
    if (want.kind != lock_kind::fair)
        return has_.locks.look(want);
    fair_table::owners told;
    const verdict_on_look answer = has_.fair.look(want, told);
    tell(want.name, told);
    return answer;
}

verdict_on_look server_state::look_at_token(const ask& want) {
    verdict_on_look answer = has_.tokens.look(want);
    const std::optional<holding> held = has_.tokens.inspect(want.name);
    answer.holder_tells = !held || held->owners.front() != foreign_owner;
    return answer;
}

std::vector<server_state::renewed> server_state::renew(const std::vector<hold>& holds,
                                                       duration lease_time) {
    const guard lock_it{mutex_};
    std::vector<renewed> all;
    all.reserve(holds.size());
    bool writes = false;
    for (const hold& each : holds) {
        renewed said;
        if (each.kind == lock_kind::read)
            said.left_before = has_.shared.left_of(each);
        else if (each.kind == lock_kind::permit)
            said.left_before = has_.permits.left_of(each);
        said.is_held = can_be_shared(each.kind)         ? has_.shared.renew(each, lease_time)
                       : each.kind == lock_kind::token  ? has_.tokens.renew(each, lease_time)
                       : each.kind == lock_kind::permit ? has_.permits.renew(each, lease_time)
                                                        : has_.locks.renew(each, lease_time);
        writes = writes || (said.is_held && lease_time > duration::zero());
        all.push_back(said);
    }
    if (writes)
        wrote();
    return all;
}

release_answer server_state::release(const hold& what) {
    const guard lock_it{mutex_};
    const release_answer said = end(what);
    wrote();
    return said;
}

bool server_state::transfers(lock_kind kind) noexcept {
    return kind != lock_kind::read && kind != lock_kind::permit;
}

verdict server_state::transfer(const hold& what, const owner_id& to, duration lease_time,
                               std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return verdict::late;
    const bool is_done =
        what.kind == lock_kind::write   ? has_.shared.transfer_write(what, to, lease_time)
        : what.kind == lock_kind::token ? has_.tokens.transfer(what, to, lease_time)
                                        : has_.locks.transfer(what, to, lease_time);
    if (is_done)
        wrote();
    return is_done ? verdict::granted : verdict::busy;
}

release_answer server_state::end(const hold& what) {
    if (what.kind == lock_kind::permit)
        return release_permits(what);
    if (what.kind == lock_kind::fair) {
        fair_table::owners told;
        const bool was_held = has_.fair.release(what, told);
        tell(what.name, told);
        return {.was_ours = was_held, .others_listen = !told.empty()};
    }
    const left_verdict said =
        can_be_shared(what.kind) ? has_.shared.release(what) : release_alone(what);
    if (said.is_told)
        tell(what.name);
    const bool others_wait = subscribers_.count(what.name.text) > 0 || has_.locks.others_spin(what);
    return {.was_ours = said.was_ours, .others_listen = said.was_ours && others_wait};
}

left_verdict server_state::release_alone(const hold& what) {
    const bool is_token = what.kind == lock_kind::token;
    const bool was_ours = is_token ? has_.tokens.release(what) : has_.locks.release(what);
    return {.was_ours = was_ours,
            .is_told = was_ours && what.kind != lock_kind::spin}; // waiters of a spin lock poll
}

std::optional<holding> server_state::inspect(const lock_name& name) const {
    const guard lock_it{mutex_};
    std::optional<holding> found = holding_of(name);
    const char* const there = found ? nullptr : what_is_there(name);
    if (there) {
        found.emplace();
        found->kind = key_kind::other;
        found->other = there;
    }
    return found;
}

server_state::asked_verdict server_state::ask_holders(const lock_name& name, const wish& what,
                                                      duration kept) {
    const guard lock_it{mutex_};
    const std::optional<holding> held = holding_of(name);
    if (!held || held->owners.empty())
        return {.other = what_is_there(name)};
    has_.wishes[name.text] = {what, held->owners, clock_.now() + kept};
    tell(wish_channel(name));
    return {.owners = held->owners};
}

std::optional<wish> server_state::wish_for(const hold& held) const {
    const guard lock_it{mutex_};
    const auto found = has_.wishes.find(held.name.text);
    if (found == has_.wishes.end() || found->second.ends_at <= clock_.now())
        return std::nullopt;
    const std::string owner = to_string(held.owner);
    const bool is_for_it = std::ranges::any_of(found->second.owners, [&](const std::string& each) {
        return each == owner || each == owner + ":write";
    });
    return is_for_it ? std::optional{found->second.what} : std::nullopt;
}

std::optional<holding> server_state::lock_at(const lock_name& name) const {
    const guard lock_it{mutex_};
    return holding_of(name);
}

std::optional<duration> server_state::left_of(const lock_name& name,
                                              const std::string& owner) const {
    const guard lock_it{mutex_};
    const std::optional<duration> of_token = has_.tokens.left_of(name, owner);
    return of_token ? of_token : has_.locks.left_of(name, owner);
}

std::optional<holding> server_state::holding_of(const lock_name& name) const {
    if (std::optional<holding> token = has_.tokens.inspect(name)) {
        token->tells = token->owners.front() != foreign_owner;
        token->kind = key_kind::token_lock;
        return token;
    }
    if (may_be_token(name)) {
        holding token{{std::to_string(*has_.counters.value(name))}, has_.counters.left(name)};
        token.tells = false;
        token.kind = key_kind::token_lock;
        return token;
    }
    if (std::optional<holding> alone = has_.locks.inspect(name))
        return alone;
    std::optional<holding> shared = has_.shared.inspect(name);
    if (shared)
        shared->kind = key_kind::read_write_lock;
    return shared;
}

/// Returns the kind of lock or counter that uses the name, as text for messages. Returns null if
/// the name is free.
const char* server_state::what_is_there(const lock_name& name) const {
    if (has_.tokens.inspect(name))
        return words_for(lock_kind::token);
    if (has_.locks.inspect(name))
        return words_for(lock_kind::plain);
    if (has_.shared.inspect(name))
        return words_for(lock_kind::read);
    if (has_.permits.has_members(name))
        return words_for(lock_kind::permit);
    if (has_.rates.is_set(name))
        return words_for(counter_kind::rate);
    return has_.counters.value(name) ? "a semaphore or a latch" : nullptr;
}

/// Returns the kind that uses the name, as text for messages. Returns null if that kind is
/// `wanted`, or if the name is free. A number may be a semaphore, a latch, or a leased semaphore
/// without held permits. As on Redis, the server cannot tell these three apart.
const char* server_state::other_than(const lock_name& name, const char* wanted) const {
    const char* const there = what_is_there(name);
    if (!there || std::string_view{there} == wanted)
        return nullptr;
    const bool is_number = has_.counters.value(name).has_value();
    const bool wants_number = wanted == std::string_view{words_for(counter_kind::semaphore)} ||
                              wanted == std::string_view{words_for(counter_kind::latch)} ||
                              wanted == std::string_view{words_for(counter_kind::permits)};
    return is_number && wants_number ? nullptr : there;
}

/// Returns whether the name has a number that expires. A token lock of another program can look the
/// same.
bool server_state::may_be_token(const lock_name& name) const {
    return has_.counters.value(name) && has_.counters.left(name);
}

std::vector<std::string> server_state::held_names() const {
    std::vector<std::string> hashes, names;
    std::ranges::merge(has_.locks.held(), has_.shared.held(), std::back_inserter(hashes));
    std::ranges::merge(hashes, has_.tokens.held(), std::back_inserter(names));
    return names;
}

std::uint64_t server_state::last_token(const lock_name& name) const {
    const guard lock_it{mutex_};
    return has_.locks.last_token(name);
}

std::optional<lock_state> server_state::state_of(const lock_name& name) const {
    const std::optional<holding> held = holding_of(name);
    lock_state told;
    told.name = name.text;
    told.type = "lock";
    told.listeners = subscribers_.count(name.text);
    told.is_held = held.has_value();
    if (held && has_.shared.inspect(name)) {
        told.kind = key_kind::read_write_lock;
        told.owners = has_.shared.owners(name);
        told.waiters = has_.shared.waiting_writers(name);
    } else {
        for (const std::string& owner : held ? held->owners : std::vector<std::string>{})
            told.owners.push_back({.text = owner, .is_holdfast = owner != foreign_owner});
        if (held && has_.tokens.inspect(name))
            told.kind = key_kind::token_lock;
        told.waiters = has_.fair.queued(name);
        for (lock_waiter& each : told.waiters) {
            const std::size_t listeners = subscribers_.count(channel_of(name, each.text).text);
            each.listens = listeners > 0;
            *told.listeners += listeners;
        }
    }
    const bool is_other = !held && what_is_there(name);
    if (is_other || (held && may_be_token(name) && !has_.tokens.inspect(name))) {
        told.kind = key_kind::other;
        told.is_held = true;
        told.owners.clear();
    }
    if (!told.is_held && told.waiters.empty())
        return std::nullopt;
    told.waiting = told.waiters.size();
    told.remaining = held ? held->remaining : std::nullopt;
    told.token = has_.locks.token(name);
    told.last_token = has_.locks.last_token(name);
    return told;
}

std::optional<lock_state> server_state::describe(const lock_name& name) const {
    const guard lock_it{mutex_};
    return state_of(name);
}

lock_list server_state::list(const std::string& pattern, std::size_t limit) const {
    const guard lock_it{mutex_};
    lock_list all;
    for (const std::string& name : held_names()) {
        if (!remote::matches(pattern, name))
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

forced_verdict server_state::force(const lock_name& name, const std::string& only_from,
                                   std::optional<lock_kind> kind,
                                   std::optional<microseconds> deadline) {
    const guard lock_it{mutex_};
    if (comes_late(deadline))
        return {.late = true};
    const std::optional<holding> held = holding_of(name);
    const bool is_number = may_be_token(name); // it may be a semaphore instead
    const char* const there = is_number ? words_for(lock_kind::token) : what_is_there(name);
    if (!there)
        return {};
    const bool is_its_kind = kind ? there == std::string_view{words_for(*kind)}
                                  : held && (!is_number || !only_from.empty());
    if (!is_its_kind || !held)
        return {.other = there};
    forced what{.owners = held->owners};
    const bool is_its = only_from.empty() || std::ranges::count(held->owners, only_from) > 0;
    const bool is_side = kind && can_be_shared(*kind);
    const bool is_meant = !is_side || held->alone == (*kind != lock_kind::read);
    what.was_locked = is_its && is_meant && (erase(name) || has_.counters.erase(name));
    if (what.was_locked) {
        wrote();
        tell(name);
        tell(name, has_.fair.next(name));
    }
    return {.what = std::move(what)};
}

microseconds server_state::now() const {
    const guard lock_it{mutex_};
    return clock_.now();
}

void server_state::prolong_session(const std::array<std::uint8_t, 16>& client,
                                   duration session_time) {
    const guard lock_it{mutex_};
    const owner_id any{client, 0};
    const microseconds end = clock_.end_of(session_time);
    has_.locks.prolong(any, end);
    has_.shared.prolong(any, end);
    has_.tokens.prolong(any, end);
    has_.permits.prolong(any, end);
}

time_point server_state::forgets_before() const {
    const guard lock_it{mutex_};
    return forgets_before_;
}

void server_state::tell(const lock_name& name) const {
    const auto [first, last] = subscribers_.equal_range(name.text);
    for (auto each = first; each != last; ++each)
        each->second->tell();
}

void server_state::tell(const lock_name& name, const fair_table::owners& whom) const {
    for (const std::string& owner : whom)
        tell(channel_of(name, owner));
}

void server_state::add(subscriber& listener) {
    const guard lock_it{mutex_};
    subscribers_.emplace(listener.name().text, &listener);
}

void server_state::remove(subscriber& listener) {
    const guard lock_it{mutex_};
    const auto [first, last] = subscribers_.equal_range(listener.name().text);
    subscribers_.erase(
        std::find_if(first, last, [&](const auto& e) { return e.second == &listener; }));
}

void server_state::step_clock(duration by) {
    const guard lock_it{mutex_};
    clock_.step(by);
}

void server_state::set_clock_rate(double rate) {
    const guard lock_it{mutex_};
    clock_.set_rate(rate);
}

void server_state::forget_all() {
    const guard lock_it{mutex_};
    forgets_before_ = clock_.clients_now();
    if (follows_)
        (void)follows_->take_arrived(clock_.clients_now());
    has_.clear();
    wrote();
}

bool server_state::erase(const lock_name& name) {
    return has_.locks.erase(name) || has_.shared.erase(name) || has_.tokens.erase(name);
}

bool server_state::forget(const lock_name& name) {
    const guard lock_it{mutex_};
    const writing after{*this};
    const bool had_lock = erase(name);
    const bool had_permits = has_.permits.erase(name);
    const bool had_rate = has_.rates.erase(name);
    return has_.counters.erase(name) || had_lock || had_permits || had_rate;
}

void server_state::occupy(const lock_name& name, duration lease_time, lock_kind kind) {
    const guard lock_it{mutex_};
    const writing after{*this};
    has_.tokens.erase(name);
    if (can_be_shared(kind)) {
        has_.locks.erase(name);
        return has_.shared.occupy(name, foreign_owner, kind, lease_time);
    }
    has_.shared.erase(name);
    if (kind == lock_kind::token) {
        has_.locks.erase(name);
        return has_.tokens.occupy(name, foreign_owner, lease_time);
    }
    has_.locks.occupy(name, foreign_owner, lease_time);
}

bool server_state::cut_readers(const lock_name& name, duration lease_time) {
    const guard lock_it{mutex_};
    const writing after{*this};
    return has_.shared.cut_readers(name, lease_time);
}

bool server_state::vacate(const lock_name& name) {
    return stranger_releases(name, foreign_owner);
}

bool server_state::stranger_releases(const lock_name& name, const std::string& owner) {
    const guard lock_it{mutex_};
    const writing after{*this};
    const std::optional<holding> token = has_.tokens.inspect(name);
    if (token && token->owners.front() == owner)
        return has_.tokens.erase(name); // token locks have no notifications
    const std::optional<holding> held = has_.locks.inspect(name);
    const bool had_it = held && held->owners.front() == owner && has_.locks.erase(name);
    if (!had_it && !has_.shared.vacate(name, owner))
        return false;
    tell(name);
    tell(name, has_.fair.next(name)); // after a fair lock, Redisson notifies, too
    return true;
}

void server_state::set_jvm_wait(duration wait) {
    const guard lock_it{mutex_};
    has_.fair.set_jvm_wait(wait);
}

duration server_state::stranger_waits() const {
    const guard lock_it{mutex_};
    return has_.fair.jvm_wait();
}

bool server_state::stranger_takes_or_queues(const lock_name& name, const std::string& owner,
                                            duration wait, duration lease) {
    const guard lock_it{mutex_};
    const writing after{*this};
    return has_.fair.stranger_takes_or_queues(name, owner, wait, lease);
}

void server_state::stranger_leaves(const lock_name& name, const std::string& owner, duration wait) {
    const guard lock_it{mutex_};
    const writing after{*this};
    has_.fair.stranger_leaves(name, owner, wait);
}

std::vector<std::string> server_state::waiting(const lock_name& name) const {
    const guard lock_it{mutex_};
    return has_.fair.waiting(name);
}

bool server_state::read_waiting(const lock_name& name, std::vector<std::string>& known) const {
    const guard lock_it{mutex_};
    return has_.fair.read_waiting(name, known);
}

std::vector<std::string> server_state::counting(const lock_name& name) const {
    const guard lock_it{mutex_};
    return has_.fair.counting(name);
}

std::uint64_t server_state::changes() const {
    const guard lock_it{mutex_};
    return writes_ + has_.fair.changes();
}

std::size_t server_state::held_count() const {
    const guard lock_it{mutex_};
    return held_names().size();
}

std::size_t server_state::listener_count() const {
    const guard lock_it{mutex_};
    return subscribers_.size();
}

// Functions that execute requests about counters.

template <typename Act>
auto server_state::on_record(counter_kind kind, const lock_name& name, count_record what, Act act) {
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

std::optional<std::int64_t> server_state::all_there_are(const lock_name& name,
                                                        counter_kind kind) const {
    if (kind != counter_kind::permits)
        return has_.counters.value(name);
    const std::optional<counter_state> found = has_.permits.inspect(name);
    return found ? std::optional{found->value + found->taken} : has_.counters.value(name);
}

std::optional<std::int64_t> server_state::count_of(const lock_name& name, counter_kind kind) const {
    const guard lock_it{mutex_};
    return all_there_are(name, kind);
}

count_verdict server_state::count(const counter_ask& want, std::optional<microseconds> deadline,
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

void server_state::give_back(const counter_ask& want, duration memory) {
    const guard lock_it{mutex_};
    const writing after{*this};
    const change_verdict given = on_record(want.kind, want.name, {.given_back = &want}, [&] {
        return want.kind == counter_kind::rate ? has_.rates.take_back(want)
                                               : has_.counters.take_back(want, memory);
    });
    tell_of_count(want.name, want.kind, given.rings);
}

change_verdict server_state::change(const counter_change& what,
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
    outcome.what.others_listen = subscribers_.count(channel_of(what.name, what.kind).text) > 0;
    return outcome;
}

/// Notifies waiters of a counter. When a latch opens, notifies all its waiters. Notifies a
/// semaphore's waiter only if enough permits for its request are free.
void server_state::tell_of_count(const lock_name& name, counter_kind kind,
                                 std::int64_t available) const {
    const auto [first, last] = subscribers_.equal_range(channel_of(name, kind).text);
    for (auto each = first; each != last && available > 0; ++each) {
        const subscriber& listener = *each->second;
        if (kind != counter_kind::latch && listener.wanted() > available)
            continue;
        if (kind != counter_kind::latch)
            available -= listener.wanted();
        listener.tell();
    }
}

counter_state server_state::inspect_counter(const lock_name& name, counter_kind kind,
                                            const rate_table::drawer& client) const {
    const guard lock_it{mutex_};
    return state_of_counter(name, kind, client);
}

counter_state server_state::state_of_counter(const lock_name& name, counter_kind kind,
                                             const rate_table::drawer& client) const {
    if (kind == counter_kind::rate)
        return has_.rates.state(name, client); // rate limiters have no subscribers
    counter_state found;
    const std::optional<counter_state> permits =
        kind == counter_kind::permits ? has_.permits.inspect(name) : std::nullopt;
    if (permits) {
        found = *permits;
    } else if (const std::optional<std::int64_t> value = has_.counters.value(name)) {
        found.exists = true;
        found.value = *value;
    }
    found.listeners = subscribers_.count(channel_of(name, kind).text);
    return found;
}

counter_list server_state::list_counters(counter_kind kind, const std::string& pattern,
                                         std::size_t limit,
                                         const rate_table::drawer& client) const {
    const guard lock_it{mutex_};
    counter_list all;
    for (const std::string& name : kind == counter_kind::permits ? has_.permits.names()
                                   : kind == counter_kind::rate  ? has_.rates.names()
                                                                 : has_.counters.names()) {
        if (!remote::matches(pattern, name))
            continue;
        all.complete = all.counters.size() < limit;
        if (!all.complete)
            break;
        all.counters.push_back({name, state_of_counter({name}, kind, client)});
    }
    return all;
}

const char* server_state::other_kind(const lock_name& name, counter_kind kind) const {
    const guard lock_it{mutex_};
    return other_than(name, words_for(kind));
}

verdict_on_look server_state::look_at_permits(const ask& want) {
    become_permits(want.name);
    const verdict_on_look answer = has_.permits.look(want);
    become_number(want.name);
    return answer;
}

/// Moves the number with this name to the table of leased semaphores, before a request about leased
/// permits is executed. After the request, the number stays in that table only if permits are held.
void server_state::become_permits(const lock_name& name) {
    if (const std::optional<kept_number> kept = has_.counters.take_out(name))
        has_.permits.put(name, *kept);
}

void server_state::become_number(const lock_name& name) {
    if (const std::optional<kept_number> kept = has_.permits.take_out(name))
        has_.counters.put(name, *kept);
}

release_answer server_state::release_permits(const hold& what) {
    become_permits(what.name);
    const permit_table::left said = has_.permits.release(what);
    become_number(what.name);
    tell_of_count(what.name, counter_kind::permits, said.rings);
    return {.was_ours = said.was_ours,
            .others_listen = subscribers_.count(channel_of(what).text) > 0};
}

void server_state::stranger_changes(const counter_change& what) {
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

void server_state::stranger_takes_permits(const hold& what, duration lease_time) {
    const guard lock_it{mutex_};
    const writing after{*this};
    ask foreign{what.name, what.owner, what.kind};
    foreign.permits = what.permits;
    foreign.lease_time = lease_time;
    (void)look_at_permits(foreign);
}

std::map<std::string, duration> server_state::permits_held(const lock_name& name) const {
    const guard lock_it{mutex_};
    return has_.permits.held(name);
}

std::size_t server_state::requests_remembered() const {
    const guard lock_it{mutex_};
    return has_.counters.requests_remembered();
}

void server_state::tell_of_counts(std::function<void(const count_record&)> told) {
    const guard lock_it{mutex_};
    keeps_record_ = std::move(told);
}

} // namespace holdfast::memory
