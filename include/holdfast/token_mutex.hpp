// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// Options of `token_mutex`.
///
///     holdfast::token_mutex stock{client, "stock:42", {.lease = holdfast::lease_time{10s}}};
struct token_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Lock that uses the keys of redis-py's `Lock`, redsync, node-redlock and other programs that use
/// `SET key token NX PX`. The lock is a string under the lock's name. The program that wrote the
/// string deletes it to release the lock. A token_mutex and these programs exclude each other. Use
/// a token_mutex to share a lock with these programs; otherwise use `mutex`, which is compatible
/// with Redisson.
///
/// Between holdfast clients, a token_mutex works like a `mutex`: releases notify the waiters,
/// leases are renewed, and losses are reported. The other programs send no notification when they
/// release. If another program holds the lock, a waiter polls four times a second, and also when
/// that program's lease expires. If the key has no TTL (the default of redis-py), the lock is busy
/// until the key is deleted, for example by `force_unlock()`.
///
/// The key is a string, while the key of a `mutex` is a hash. If one name is used for both, the
/// second lock is `refused`. See `mutex` for everything else. docs/protocol/token.md describes the
/// wire format, and the promises of holdfast that the other programs do not keep.
class HOLDFAST_EXPORT token_mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name or the
    /// lease time is not allowed, or if the store does not support token locks.
    token_mutex(client& home, lock_name name, token_options how = {});

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
