// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// For `spin_mutex`.
///
///     holdfast::spin_mutex stock{client, "stock:42", {.polls = {.first = 5ms, .longest = 50ms}}};
struct spin_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store: deferred_release_t
    backoff polls{};       ///< 1 ms ≤ `first` ≤ `longest` ≤ 1 min
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// A lock whose waiters poll: Redisson's spin lock. It sends and receives no message, so it costs
/// the server nothing but the attempts. Use it where locks are held for moments by few, or where
/// the server's user may not use channels; else a `mutex` wakes sooner and asks less.
///
/// Waiters of one client queue in the process, and one of them polls. Between processes there is no
/// order, and whoever polls more often wins more often. A client that takes the lock again and
/// again while others wait leaves it to them now and then, for one of its longest pauses.
///
/// It has the key of a `mutex` of that name, and they exclude each other; but its release wakes no
/// waiter of a `mutex` (nor of a JVM's RLock), which then asks within `poll_bound`. So do not mix
/// them. Everything else is as for `mutex`. Wire format: docs/protocol/spin.md.
class HOLDFAST_EXPORT spin_mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name, the lease time or the pauses are not
    /// allowed, or if the store keeps no such locks.
    spin_mutex(client& home, lock_name name, spin_options how = {});

    using basic_mutex::async_lock;

    /// As of `recursive_mutex`, with `recursion::counted`; else it completes with `already_held`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
