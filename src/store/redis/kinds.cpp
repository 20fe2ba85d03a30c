// SPDX-License-Identifier: Apache-2.0
#include "store/redis/kinds.hpp"

#include "store/redis/names.hpp"
#include "store/redis/plain_requests.hpp"

namespace holdfast::redis {
namespace {

channel_name lock_channel_of(const hold& held) {
    return lock_channel(held.name);
}

constexpr verbs plain{lock_mutex, release_mutex, renew_leases, lock_channel_of};

} // namespace

const verbs* verbs_of(lock_kind kind) noexcept {
    return kind == lock_kind::plain ? &plain : nullptr;
}

} // namespace holdfast::redis
