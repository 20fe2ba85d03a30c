// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>

namespace holdfast::sync {

/// Kinds of locks and counters whose callers of one client wait for each other, under one rule of
/// who is next. `several`: of locks made of several, whose members have gates of their own.
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
    return family::exclusive; // no other kind is offered by any store
}

/// Of what is wanted of a counter.
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
    return family::semaphore; // there is no other kind
}

/// Whether one client may have several holds of such a thing under one name.
constexpr bool many_hold(lock_kind kind) {
    return kind == lock_kind::read || kind == lock_kind::permit;
}

/// Whether the store keeps the waiters of such a lock in order. Then each of them has a place
/// there, and a hold is never passed on without asking it.
constexpr bool queues_in_store(family which) {
    return which == family::fair;
}

} // namespace holdfast::sync
