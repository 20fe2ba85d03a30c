// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>

namespace holdfast::sync {

/// Families of locks and counters. Callers of one client that want the same name in the same family
/// wait in one queue. `several` is the family of locks that consist of several locks. The members
/// of such a lock have gates of their own.
enum class family : std::uint8_t {
    exclusive,
    fair,
    shared,
    token,
    permits,
    several,
    semaphore,
    latch,
    rate
};

inline constexpr family families[] = {family::exclusive, family::fair,    family::shared,
                                      family::token,     family::permits, family::several,
                                      family::semaphore, family::latch,   family::rate};

constexpr family family_of(lock_kind kind) {
    switch (kind) {
    case lock_kind::plain:
    case lock_kind::spin:
    case lock_kind::fenced:
        return family::exclusive;
    case lock_kind::fair:
        return family::fair;
    case lock_kind::read:
    case lock_kind::write:
        return family::shared;
    case lock_kind::token:
        return family::token;
    case lock_kind::permit:
        return family::permits;
    }
    return family::exclusive; // no store offers another kind
}

/// Returns the family of a counter.
constexpr family family_of(counter_kind kind) {
    switch (kind) {
    case counter_kind::semaphore:
        return family::semaphore;
    case counter_kind::permits:
        return family::permits;
    case counter_kind::latch:
        return family::latch;
    case counter_kind::rate:
        return family::rate;
    }
    return family::semaphore; // no other kind exists
}

/// Returns whether one client may have several holds of this kind under one name.
constexpr bool many_hold(lock_kind kind) {
    return kind == lock_kind::read || kind == lock_kind::permit;
}

/// Returns whether the store keeps the waiters of this family in order. Then each waiter has an
/// entry in the store's queue, and a hold is never passed on without asking the store.
constexpr bool queues_in_store(family which) {
    return which == family::fair;
}

} // namespace holdfast::sync
