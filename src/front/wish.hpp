// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/guard.hpp"
#include "front/offered.hpp"
#include "refusal.hpp"
#include "sync/engine.hpp"
#include "sync/subject.hpp"
#include "validation.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::front {

/// Creates the descriptor of a lock, with its name as the store sees it. Throws
/// `errc::invalid_argument` if a value is not allowed.
inline std::shared_ptr<sync::subject> make_subject(const std::shared_ptr<sync::engine>& home,
                                                   const lock_name& name,
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
        checked.outlasts = checked_waiter_patience(wanted.outlasts, how, home->bounds());
    checked.replicas =
        checked_replicas(wanted.replicas.value_or(how.required_replicas), home->bounds());
    const duration length = wanted.lease ? wanted.lease->value : how.lease_time;
    return std::make_shared<sync::subject>(home, std::move(of_store),
                                           checked_lease(length, home->bounds()), checked);
}

/// Checks the lease time that a call requests, and returns it. Throws `errc::invalid_argument`.
inline std::optional<duration> wanted_lease(const sync::subject& lock, const detail::wish& how) {
    if (!how.lease)
        return std::nullopt;
    return checked_lease(how.lease->value, lock.home->bounds());
}

inline sync::request request_for(const std::shared_ptr<sync::subject>& lock,
                                 const detail::wish& how) {
    return sync::request_for(lock, how.patience, wanted_lease(*lock, how));
}

} // namespace holdfast::front
