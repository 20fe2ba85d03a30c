// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// A `mutex` that its holder may lock again. It is compatible with Redisson's RLock.
///
/// The process counts the entries; the store sees one hold. If the holder locks the lock again, the
/// client sends no request to the store. It never shortens the lease. There are four special cases:
/// - If the new entry has a longer lease time than the remaining time, it first extends the lease
///   (one request).
/// - If the new entry has no lease time and the hold was not renewed until now, the hold is renewed
///   from now on.
/// - If the new entry requires more replicas than the hold, that greater number of replicas must
///   first confirm the hold (one request). If they do not confirm it, the call throws
///   `not_replicated`, and the hold is unchanged.
/// - If the hold is lost, the new entry throws `errc::lease_lost`. It never acquires the lock
///   again.
///
/// An asynchronous call enters a held lock again only if it passes the outer lease. Without the
/// outer lease, every call is a new owner:
///
///     lease outer = co_await m.async_lock(asio::use_awaitable);
///     lease inner = co_await m.async_lock(outer, asio::use_awaitable);
class HOLDFAST_EXPORT recursive_mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name or the
    /// lease time is not allowed.
    recursive_mutex(client& home, lock_name name, mutex_options how)
        : basic_mutex{home, std::move(name), detail::setup_of(how, recursion::counted)} {}
    recursive_mutex(client& home, lock_name name)
        : recursive_mutex{home, std::move(name), mutex_options{}} {}

    /// Creates a lock whose lease time replaces the lease time of the client. Holds are renewed as
    /// usual.
    recursive_mutex(client& home, lock_name name, lease_time lease)
        : recursive_mutex{home, std::move(name), mutex_options{.lease = lease}} {}

    /// Creates a lock whose unlock() does not wait for the store.
    recursive_mutex(client& home, lock_name name, deferred_release_t)
        : recursive_mutex{home, std::move(name), mutex_options{.deferred = true}} {}
    recursive_mutex(client& home, lock_name name, lease_time lease, deferred_release_t)
        : recursive_mutex{home, std::move(name), mutex_options{.lease = lease, .deferred = true}} {}

    using basic_mutex::async_lock;

    /// Completes with a second lease for the hold that the lease `outer` owns. Fails with
    /// `lease_lost` if the hold is lost, and with `not_owner` if the hold is on another lock. The
    /// lock becomes free when both leases are released.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
