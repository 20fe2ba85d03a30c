// SPDX-License-Identifier: Apache-2.0
#include "front/requests.hpp"

#include "sync/held_lock.hpp"
#include "sync/thread_table.hpp"

#include <string_view>

namespace holdfast::front {
namespace {

constexpr std::string_view redis_alone = "Redis and Valkey have them";
constexpr std::string_view all_stores = "Redis, Valkey, MySQL, MariaDB and ZooKeeper have them";

std::string words(std::string_view kind, std::string_view where) {
    return "the store of this client has no " + std::string{kind} + "; " + std::string{where} +
           " (docs/stores.md)";
}

} // namespace

std::string words_on_missing(lock_kind kind) {
    switch (kind) {
    case lock_kind::spin:
        return words("spin locks", redis_alone);
    case lock_kind::token:
        return words("locks with tokens of redis-py", redis_alone);
    case lock_kind::fair:
        return words("fair locks", all_stores);
    case lock_kind::read:
    case lock_kind::write:
        return words("locks that can be shared", all_stores);
    case lock_kind::fenced:
        return words("fenced locks", all_stores);
    case lock_kind::permit:
        return words("semaphores with leases", all_stores);
    case lock_kind::plain:
        break;
    }
    return words("plain locks", all_stores);
}

std::string words_on_missing(counter_kind kind) {
    switch (kind) {
    case counter_kind::permits:
        return words("semaphores with leases", all_stores);
    case counter_kind::latch:
        return words("latches", "Redis, Valkey, MySQL and MariaDB have them");
    case counter_kind::rate:
        return words("rate limiters", redis_alone);
    case counter_kind::semaphore:
        break;
    }
    return words("semaphores without leases", redis_alone);
}

namespace {

using sync::held_lock;
using sync::side;
using shared_hold = std::shared_ptr<held_lock>;

[[noreturn]] void refuse_with(errc code, const char* words) {
    throw worded_error{{make_error_code(code), words}};
}

/// Returns the whole hold that a lease shares. Returns null if the hold is not of the given kind.
shared_hold as_kind(const std::shared_ptr<sync::lock_handle>& share, lock_kind kind) {
    shared_hold one = share ? std::dynamic_pointer_cast<held_lock>(share->whole()) : shared_hold{};
    return one && one->what.kind == kind ? one : nullptr;
}

void stand(sync::request& wanted, shared_hold held,
           const std::shared_ptr<sync::lock_handle>& share) {
    if (!held->is_valid())
        refuse_with(errc::lease_lost,
                    "the caller's other hold on this lock is lost; unlock it first");
    wanted.under = std::move(held);
    wanted.share = share;
}

} // namespace

void stand_beside_own_hold(sync::request& wanted, bool upgrades) {
    const sync::lock_descriptor& lock = *wanted.of;
    if (lock.kind != lock_kind::read && lock.kind != lock_kind::write)
        return;
    const bool reads = lock.kind == lock_kind::read;
    const side other = reads ? side::alone : side::shared;
    const sync::thread_table::entry has = lock.home->threads()->find(lock.name.text, other);
    if (has.lent)
        refuse_with(errc::already_held,
                    "this thread holds the lock as a member of a multi_mutex or quorum_mutex");
    const std::shared_ptr<sync::lock_handle>& share = has.hold;
    shared_hold held = as_kind(share, reads ? lock_kind::write : lock_kind::read);
    if (!held && upgrades)
        refuse_with(errc::not_owner, "only a thread that holds the lock shared can upgrade");
    if (!held)
        return;
    stand(wanted, std::move(held), share);
    if (!reads && !upgrades)
        refuse_with(errc::already_held, "this thread holds the lock shared, and would wait for "
                                        "itself: try_upgrade_for(), or unlock_shared() first");
}

void stand_beside(sync::request& wanted, const std::shared_ptr<sync::lock_handle>& named) {
    const sync::lock_descriptor& lock = *wanted.of;
    const bool reads = lock.kind == lock_kind::read;
    shared_hold held = as_kind(named, reads ? lock_kind::write : lock_kind::read);
    if (!held || held->home != lock.home || held->what.name != lock.name)
        refuse_with(errc::not_owner, "that lease does not hold the other side of this lock");
    stand(wanted, std::move(held), named);
}

namespace {

/// Returns the amount of a change. Throws if the amount is out of range.
std::int64_t checked(const sync::counter_descriptor& of, std::int64_t amount) {
    const bool is_latch = of.what == counter_kind::latch;
    return checked_amount(amount, is_latch ? 1 : 0, basic_counter::max(),
                          is_latch ? "the count" : "the number of permits");
}

bool has_amount(counter_verb verb) {
    return verb != counter_verb::drain && verb != counter_verb::erase &&
           verb != counter_verb::give_back && verb != counter_verb::set_lease;
}

/// Calls `ask(counters)`, and keeps the store alive during the call. Throws if the store no longer
/// exists, or if it has no counters of the given kind.
template <typename Ask>
void ask_counters(const sync::engine& home, counter_kind kind, Ask ask) {
    const bool is_there = home.ask_store([&](store& all) {
        counter_store* const some = all.counters();
        if (!some || !some->offers(kind))
            refuse(words_on_missing(kind));
        ask(*some);
    });
    if (!is_there)
        throw worded_error{closed()};
}

} // namespace

void must_offer(const sync::engine& home, counter_kind kind) {
    ask_counters(home, kind, [](counter_store&) {});
}

std::shared_ptr<const sync::counter_descriptor>
make_counter(const std::shared_ptr<sync::engine>& home, const lock_name& name,
             const detail::counter_setup& wanted) {
    const counter_kind kind = wanted.kind;
    const options& how = home->how();
    const std::string mapped =
        how.name_mapper ? how.name_mapper(name.text) : how.prefix + name.text;
    std::string of_store;
    duration memory{};
    ask_counters(*home, kind, [&](counter_store& all) {
        of_store = checked_name(mapped, all, kind);
        memory = all.memory();
    });
    checked_amount(wanted.most, 0, basic_counter::max(), "the bound of a semaphore");
    detail::counter_setup checked = wanted;
    checked.replicas =
        checked_replicas(wanted.replicas.value_or(how.required_replicas), home->bounds());
    return std::make_shared<sync::counter_descriptor>(home, std::move(of_store), memory, checked);
}

std::int64_t checked_take(const sync::counter_descriptor& of, std::int64_t amount) {
    return of.what == counter_kind::latch ? amount : checked(of, amount);
}

std::optional<counter_change> checked_change(const sync::counter_descriptor& of, counter_verb verb,
                                             std::int64_t amount, std::optional<duration> kept) {
    if (has_amount(verb) && checked(of, amount) == 0 && verb != counter_verb::set_new &&
        verb != counter_verb::set)
        return std::nullopt;
    counter_change all = sync::change_of(of, verb, amount);
    if (kept)
        all.kept = checked_keeping(*kept, of.home->bounds());
    return all;
}

sync::request request_for(const std::shared_ptr<const sync::counter_descriptor>& of,
                          std::int64_t amount, duration timeout) {
    sync::request all = sync::request_for(of, timeout, {});
    all.amount = amount;
    return all;
}

} // namespace holdfast::front
