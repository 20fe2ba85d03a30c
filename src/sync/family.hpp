// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <cstdint>

namespace holdfast::sync {

/// Kinds of locks whose callers of one client wait for each other, under one rule of who is next.
/// `several`: of locks made of several, whose members have gates of their own.
enum class family : std::uint8_t { exclusive, fair, shared, token, permits, several };

inline constexpr family families[] = {family::exclusive, family::fair,    family::shared,
                                      family::token,     family::permits, family::several};

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

/// Whether the store keeps the waiters of such a lock in order. Then each of them has a place
/// there, and a hold is never passed on without asking it.
constexpr bool queues_in_store(family which) {
    return which == family::fair;
}

} // namespace holdfast::sync
