// SPDX-License-Identifier: Apache-2.0
#include "store/redis/kinds.hpp"

#include "store/redis/fair_requests.hpp"
#include "store/redis/fenced_requests.hpp"
#include "store/redis/names.hpp"
#include "store/redis/permit_requests.hpp"
#include "store/redis/plain_requests.hpp"
#include "store/redis/shared_requests.hpp"
#include "store/redis/token_requests.hpp"

namespace holdfast::redis {
namespace {

channel_name lock_channel_of(const hold& held) {
    return lock_channel(held.name);
}

channel_name shared_channel_of(const hold& held) {
    return shared_channel(held.name);
}

channel_name token_channel_of(const hold& held) {
    return token_channel(held.name);
}

channel_name permits_channel_of(const hold& held) {
    return semaphore_channel(held.name);
}

constexpr verbs plain{lock_mutex, release_mutex, renew_leases, lock_channel_of};
constexpr verbs spin{lock_spin, release_spin, renew_leases, nullptr};
constexpr verbs fenced{lock_fenced, release_mutex, renew_leases, lock_channel_of};
constexpr verbs fair{lock_fair, release_fair, renew_leases, fair_channel, linger::none};
constexpr verbs of_readers{lock_read, release_read, renew_reads, shared_channel_of, linger::none};
constexpr verbs of_writers{lock_write, release_write, renew_leases, shared_channel_of,
                           linger::none};
constexpr verbs of_tokens{lock_token, release_token, renew_tokens, token_channel_of};
constexpr verbs of_permits{lease_permits, return_permits, renew_permits, permits_channel_of};

} // namespace

const verbs* verbs_of(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::plain:
        return &plain;
    case lock_kind::spin:
        return &spin;
    case lock_kind::fenced:
        return &fenced;
    case lock_kind::fair:
        return &fair;
    case lock_kind::read:
        return &of_readers;
    case lock_kind::write:
        return &of_writers;
    case lock_kind::token:
        return &of_tokens;
    case lock_kind::permit:
        return &of_permits;
    default:
        return nullptr;
    }
}

} // namespace holdfast::redis
