// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// Options of `fair_mutex`.
///
///     holdfast::fair_mutex desk{client, "desk", {.waiter_timeout = 60s}};
struct fair_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t

    /// How long a waiter keeps its place in the queue without sending a request. If a waiter dies,
    /// the waiters after it have to wait for this time. A waiter that was disconnected for longer
    /// than this time goes to the end of the queue.
    ///
    /// The minimum is `poll_bound + unavailable_timeout + 2 * command_timeout`: 21 s by default, or
    /// 41 s behind Sentinels and in a cluster. With this minimum, a waiter keeps its place during
    /// an outage that does not end its call. The maximum is one hour. If the minimum would be
    /// longer than one hour, only one hour is allowed. The default (empty) is 30 s, or the minimum
    /// if that is longer.
    std::optional<duration> waiter_timeout{};
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Mutual-exclusion lock that serves its waiters in the order in which their first requests reached
/// the server. The waiters may be in any process, including JVMs with Redisson's fair lock.
///
///     holdfast::fair_mutex desk{client, "desk"};
///     const std::scoped_lock held{desk};
///
/// Each waiter has its own place in the store's queue; every waiting thread of a process is a
/// waiter. A waiter that times out, is cancelled or ends with its client leaves the queue at once.
/// A waiter that dies delays the others for `waiter_timeout` at most.
///
/// The lock is never handed over inside a client, so a pair of lock() and unlock() always sends
/// requests to the store. If order does not matter, `mutex` is faster. `try_lock()` never takes a
/// place in the queue, and never overtakes a waiter.
///
/// docs/guarantees.md says what the lock promises in addition to exclusion, and when it cannot keep
/// the order. Other types of locks with the same name exclude this lock, but their waiters do not
/// join its queue. The lock is recursive only if `fair_options::again` is `recursion::counted`; see
/// recursive_mutex. Wire format: docs/protocol/fair.md.
class HOLDFAST_EXPORT fair_mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name, the
    /// lease time or `waiter_timeout` is not allowed, or if the store does not support fair locks.
    fair_mutex(client& home, lock_name name, fair_options how)
        : basic_mutex{home, std::move(name),
                      detail::lock_setup{.kind = lock_kind::fair,
                                         .lease = how.lease,
                                         .again = how.again,
                                         .deferred = how.deferred,
                                         .outlasts = how.waiter_timeout,
                                         .replicas = how.required_replicas}} {}
    fair_mutex(client& home, lock_name name)
        : fair_mutex{home, std::move(name), fair_options{}} {}

    using basic_mutex::async_lock;

    /// Completes with a second lease for the hold that the lease `outer` owns. Fails with
    /// `already_held` if this lock is not recursive, with `lease_lost` if the hold is lost, and
    /// with `not_owner` if the hold is on another lock. The lock becomes free when both leases are
    /// released.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
