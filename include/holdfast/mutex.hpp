// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// Mutual-exclusion lock that is shared by every process that uses its name, including JVMs with
/// Redisson's RLock.
///
///     holdfast::mutex stock{client, "stock:42"};
///
///     std::scoped_lock held{stock};                                  // blocking
///     auto held = co_await stock.async_lock(asio::use_awaitable);    // coroutine
///
/// The hold is a *lease*, which is renewed in the background. The lock is lost if the store cannot
/// be reached for the length of the lease, or if the store removes the lock. Two holders can then
/// overlap (docs/guarantees.md), so pass `lease::lost()` to work that must stop.
///
/// The lock is not recursive: a thread that locks it twice gets `errc::already_held` at once, or
/// `lease_lost` if its hold was lost. Two objects with the same name are the same lock. Wire
/// format: docs/protocol/mutex.md.
class HOLDFAST_EXPORT mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name or the
    /// lease time is not allowed.
    mutex(client& home, lock_name name, mutex_options how)
        : basic_mutex{home, std::move(name), detail::setup_of(how, recursion::refused)} {}
    mutex(client& home, lock_name name)
        : mutex{home, std::move(name), mutex_options{}} {}

    /// Creates a lock whose lease time replaces the lease time of the client. Holds are renewed as
    /// usual.
    mutex(client& home, lock_name name, lease_time lease)
        : mutex{home, std::move(name), mutex_options{.lease = lease}} {}

    /// Creates a lock whose unlock() does not wait for the store.
    mutex(client& home, lock_name name, deferred_release_t)
        : mutex{home, std::move(name), mutex_options{.deferred = true}} {}
    mutex(client& home, lock_name name, lease_time lease, deferred_release_t)
        : mutex{home, std::move(name), mutex_options{.lease = lease, .deferred = true}} {}
};

} // namespace holdfast
