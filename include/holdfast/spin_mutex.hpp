// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// Options of `spin_mutex`.
///
///     holdfast::spin_mutex stock{client, "stock:42", {.polls = {.first = 5ms, .longest = 50ms}}};
struct spin_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t
    backoff polls{};       ///< 1 ms ≤ `first` ≤ `longest` ≤ 1 min
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Lock whose waiters poll. It is compatible with Redisson's spin lock. The lock sends and receives
/// no notifications, so the server has to process only the attempts to acquire the lock. Use it if
/// a few clients hold the lock for short times, or if the server's user has no permission for
/// channels. Otherwise use `mutex`: its waiters wake up sooner and send fewer requests.
///
/// Waiters of one client queue in the process, and only the first of them polls. Between processes
/// there is no order, and a client that polls more often wins more often. A client that acquires
/// the lock again and again while other clients wait sometimes pauses for `backoff::longest`, so
/// that they can acquire the lock.
///
/// A spin_mutex uses the same key as a `mutex` of that name, and the two locks exclude each other.
/// Do not use both types for one name: the release of a spin_mutex does not notify the waiters of a
/// `mutex` or of a JVM's RLock. These waiters notice the release only at their next poll, within
/// `poll_bound`. See `mutex` for everything else. Wire format: docs/protocol/spin.md.
class HOLDFAST_EXPORT spin_mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name, the
    /// lease time or the pauses are not allowed, or if the store does not support spin locks.
    spin_mutex(client& home, lock_name name, spin_options how = {});

    using basic_mutex::async_lock;

    /// Completes with a second lease for the hold that the lease `outer` owns; see
    /// `recursive_mutex::async_lock`. Fails with `already_held` if this lock does not have the
    /// option `recursion::counted`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
