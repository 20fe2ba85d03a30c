// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of the public functions, and makes the descriptors and requests of locks and
// counters from them.
#pragma once

#include "config/errors.hpp"
#include "config/validation.hpp"
#include "front/preconditions.hpp"
#include "sync/counter_changes.hpp"
#include "sync/engine.hpp"
#include "sync/lock_descriptor.hpp"

#include <holdfast/basic_counter.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::front {

/// Returns the error text for a kind of lock or counter that the client's store does not support.
/// The text names stores that support it.
std::string words_on_missing(lock_kind);
std::string words_on_missing(counter_kind);

/// Creates the descriptor of a lock, with its name as the store sees it. Throws
/// `errc::invalid_argument` if a value is not allowed.
inline std::shared_ptr<sync::lock_descriptor>
make_descriptor(const std::shared_ptr<sync::engine>& home, const lock_name& name,
                const detail::lock_setup& wanted) {
    const options& how = home->how();
    const std::string mapped =
        how.name_mapper ? how.name_mapper(name.text) : how.prefix + name.text;
    std::string of_store;
    const bool is_there = home->ask_store([&](store& all) {
        if (!all.locks().offers(wanted.kind))
            refuse(words_on_missing(wanted.kind));
        of_store = checked_name(mapped, all.locks());
    });
    if (!is_there)
        throw worded_error{closed()};
    detail::lock_setup checked = wanted;
    if (wanted.kind == lock_kind::fair)
        checked.outlasts = checked_waiter_timeout(wanted.outlasts, how, home->bounds());
    checked.replicas =
        checked_replicas(wanted.replicas.value_or(how.required_replicas), home->bounds());
    const duration length = wanted.lease ? wanted.lease->value : how.lease_time;
    return std::make_shared<sync::lock_descriptor>(home, std::move(of_store),
                                                   checked_lease(length, home->bounds()), checked);
}

/// Checks the lease time that a call requests, and returns it. Throws `errc::invalid_argument` for
/// a lease time that is not allowed.
inline std::optional<duration> wanted_lease(const sync::lock_descriptor& lock,
                                            const detail::acquire_options& how) {
    if (!how.lease)
        return std::nullopt;
    return checked_lease(how.lease->value, lock.home->bounds());
}

inline sync::request request_for(const std::shared_ptr<sync::lock_descriptor>& lock,
                                 const detail::acquire_options& how) {
    return sync::request_for(lock, how.timeout, wanted_lease(*lock, how));
}

/// Returns the entry of this thread for the lock in the thread table: the hold, and how many times
/// the thread has entered the lock.
inline sync::thread_table::entry this_thread_entry(const sync::lock_descriptor& lock) {
    return lock.home->threads()->find(lock.entry(), lock.way());
}

// Functions for a lock with a readers' side and a writers' side. The holder of one side can request
// the other side, and keeps the first side.

/// Links a request for one side of a shared_mutex to this thread's hold of the other side, if the
/// thread has such a hold. Throws if the thread reads, and requests to write without an upgrade.
/// Throws if the thread requests an upgrade but does not read. Throws if the thread's hold is lost.
void stand_beside_own_hold(sync::request&, bool upgrades);

/// Links the request to the given hold, which must be a hold on the other side (read or write) of
/// the same lock.
void stand_beside(sync::request&, const std::shared_ptr<sync::lock_handle>&);

// Checks of a counter's arguments, before anything is sent. Each function below throws
// `errc::invalid_argument`.

/// Checks that the store has counters of this kind. Also throws `closed` if the store no longer
/// exists.
void must_offer(const sync::engine&, counter_kind);

/// Makes the descriptor of a counter, with its name as the store sees it.
std::shared_ptr<const sync::counter_descriptor>
make_counter(const std::shared_ptr<sync::engine>&, const lock_name&, const detail::counter_setup&);

/// Returns the given amount. Throws if one call must not take so much.
std::int64_t checked_take(const sync::counter_descriptor&, std::int64_t amount);

/// Returns the change that the store must make. Returns nothing if the change would have no effect,
/// so that no request is needed.
std::optional<counter_change> checked_change(const sync::counter_descriptor&, counter_verb,
                                             std::int64_t amount, std::optional<duration> kept);

sync::request request_for(const std::shared_ptr<const sync::counter_descriptor>&,
                          std::int64_t amount, duration timeout);

} // namespace holdfast::front
