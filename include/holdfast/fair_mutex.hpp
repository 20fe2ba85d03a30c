// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// For `fair_mutex`.
///
///     holdfast::fair_mutex desk{client, "desk", {.waiter_patience = 60s}};
struct fair_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store: deferred_release_t

    /// How long a waiter that is not heard of keeps its place: so long the others wait for one that
    /// has died. A waiter that was cut off for longer goes on from the end of the queue. At least
    /// `poll_bound + unavailable_patience + 2 * command_timeout` (21 s if those are not changed),
    /// since a waiter that survives an outage must not be overtaken for it; at most one hour.
    /// Empty: 30 s, or that least length if it is longer.
    std::optional<duration> waiter_patience{};
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// A mutual-exclusion lock whose waiters are served in the order in which their first requests
/// reached the server, whichever process they are in, JVMs with Redisson's fair lock included.
///
///     holdfast::fair_mutex desk{client, "desk"};
///     const std::scoped_lock held{desk};
///
/// Each waiter, also each thread of one process, has a place of its own in the store's queue. A
/// waiter that gives up, is cancelled or ends with its client leaves the queue at once; one that
/// dies keeps the others waiting for `waiter_patience` at most. No hold is passed on inside a
/// client, so a pair of lock() and unlock() always asks the store; where order does not matter,
/// `mutex` is faster. `try_lock()` never takes a place, and overtakes nobody.
///
/// What it promises beside exclusion, and when it cannot: docs/guarantees.md. Other locks of that
/// name exclude this one and are excluded, but do not queue. Not recursive unless the options say
/// so: then as recursive_mutex. Wire format: docs/protocol/fair.md.
class HOLDFAST_EXPORT fair_mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name, the lease time or the waiters' patience
    /// is not allowed, or the store keeps no fair locks.
    fair_mutex(client& home, lock_name name, fair_options how)
        : basic_mutex{home, std::move(name),
                      detail::lock_setup{.kind = lock_kind::fair,
                                         .lease = how.lease,
                                         .again = how.again,
                                         .deferred = how.deferred,
                                         .outlasts = how.waiter_patience,
                                         .replicas = how.required_replicas}} {}
    fair_mutex(client& home, lock_name name)
        : fair_mutex{home, std::move(name), fair_options{}} {}

    using basic_mutex::async_lock;

    /// Completes with a second lease on the hold that `outer` owns; `already_held` if this lock is
    /// not recursive, `lease_lost` if that hold is lost, `not_owner` if it is not a hold of this
    /// lock. The lock is free when both are released.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
