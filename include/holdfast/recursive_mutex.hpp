// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// A `mutex` that its holder may lock again: Redisson's RLock.
///
/// Re-entry is counted in the process; the store sees one hold. Re-entry needs no message, and
/// never shortens the lease. If its lease time is longer than the time that is left, it extends the
/// lease first (one message). If it has no lease time, a hold that was not renewed is renewed from
/// then on. If it requires more replicas than the hold has, they must confirm it first (one
/// message): else it throws `not_replicated`, and the hold is as it was. Re-entering a *lost* hold
/// throws `errc::lease_lost`: it never acquires the lock anew.
///
/// An asynchronous re-entry names its hold. Without one, every call is a new owner:
///
///     lease outer = co_await m.async_lock(asio::use_awaitable);
///     lease inner = co_await m.async_lock(outer, asio::use_awaitable);
class HOLDFAST_EXPORT recursive_mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed.
    recursive_mutex(client& home, lock_name name, mutex_options how)
        : basic_mutex{home, std::move(name), detail::setup_of(how, recursion::counted)} {}
    recursive_mutex(client& home, lock_name name)
        : recursive_mutex{home, std::move(name), mutex_options{}} {}

    /// With a lease time of its own instead of the client's; holds are renewed all the same.
    recursive_mutex(client& home, lock_name name, lease_time lease)
        : recursive_mutex{home, std::move(name), mutex_options{.lease = lease}} {}

    /// Its unlock() does not wait for the store.
    recursive_mutex(client& home, lock_name name, deferred_release_t)
        : recursive_mutex{home, std::move(name), mutex_options{.deferred = true}} {}
    recursive_mutex(client& home, lock_name name, lease_time lease, deferred_release_t)
        : recursive_mutex{home, std::move(name), mutex_options{.lease = lease, .deferred = true}} {}

    using basic_mutex::async_lock;

    /// Completes with a second lease on the hold that `outer` owns; `lease_lost` if that hold is
    /// lost, `not_owner` if it is not a hold of this lock. The lock is free when both are released.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
