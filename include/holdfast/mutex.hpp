// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// A mutual-exclusion lock shared by every process that uses its name, JVMs with Redisson's RLock
/// included.
///
///     holdfast::mutex stock{client, "stock:42"};
///
///     std::scoped_lock held{stock};                                  // blocking
///     auto held = co_await stock.async_lock(asio::use_awaitable);    // coroutine
///
/// The hold is a *lease*. It is renewed in the background. It is lost if the store cannot be
/// reached for as long as the lease, or takes the lock away. Two holders can then overlap
/// (docs/guarantees.md), so pass `lease::lost()` to work that must stop.
///
/// Not recursive: a thread that locks it twice gets `errc::already_held` at once, or `lease_lost`
/// if its hold was lost. Two objects with one name are one lock. Wire format:
/// docs/protocol/mutex.md.
class HOLDFAST_EXPORT mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed.
    mutex(client& home, lock_name name, mutex_options how)
        : basic_mutex{home, std::move(name), detail::setup_of(how, recursion::refused)} {}
    mutex(client& home, lock_name name)
        : mutex{home, std::move(name), mutex_options{}} {}

    /// With a lease time of its own instead of the client's; holds are renewed all the same.
    mutex(client& home, lock_name name, lease_time lease)
        : mutex{home, std::move(name), mutex_options{.lease = lease}} {}

    /// Its unlock() does not wait for the store.
    mutex(client& home, lock_name name, deferred_release_t)
        : mutex{home, std::move(name), mutex_options{.deferred = true}} {}
    mutex(client& home, lock_name name, lease_time lease, deferred_release_t)
        : mutex{home, std::move(name), mutex_options{.lease = lease, .deferred = true}} {}
};

} // namespace holdfast
