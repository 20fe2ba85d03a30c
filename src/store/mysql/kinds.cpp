// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/kinds.hpp"

#include "store/mysql/fair_requests.hpp"
#include "store/mysql/mutex_requests.hpp"
#include "store/mysql/permit_requests.hpp"
#include "store/mysql/shared_requests.hpp"

namespace holdfast::mysql {
namespace {

constexpr verbs exclusive{take_lock, release_lock, kept_in::locks, lock_may_be_had, true};
constexpr verbs fair{take_turn, release_turn, kept_in::locks, turn_may_be_had};
constexpr verbs of_readers{take_to_read, release_read, kept_in::readers, may_be_read};
constexpr verbs of_writers{take_lock, release_lock, kept_in::locks, lock_may_be_had};
constexpr verbs of_permits{take_permits, return_permits, kept_in::permits, permits_are_free};

} // namespace

// Waiters of spin locks always poll. In this store the waiters of all other kinds except exclusive
// locks poll too. This store has no token locks, no semaphores without leases and no rate limiters;
// only Redis has them.
const verbs* verbs_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::plain:
    case lock_kind::fenced:
        return &exclusive;
    case lock_kind::fair:
        return &fair;
    case lock_kind::read:
        return &of_readers;
    case lock_kind::write:
        return &of_writers;
    case lock_kind::permit:
        return &of_permits;
    case lock_kind::spin:
    case lock_kind::token:
        break;
    }
    return nullptr;
}

} // namespace holdfast::mysql
