// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// For `token_mutex`.
///
///     holdfast::token_mutex stock{client, "stock:42", {.lease = holdfast::lease_time{10s}}};
struct token_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store: deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// A lock on the keys of redis-py's `Lock`, redsync, node-redlock and all that do as
/// `SET key token NX PX` says: a string under the lock's name, deleted by whoever wrote it. They
/// and this type exclude each other. Use it to share a lock with such programs; else a `mutex`,
/// which Redisson knows.
///
/// Among clients of holdfast it has all that a `mutex` has: releases wake waiters, leases are
/// renewed, a loss is told. The others tell nobody when they release: whoever waits behind one of
/// them asks four times a second, and at the end of its lease. A key without a lease, as redis-py
/// writes it by default, is busy until it is deleted; `force_unlock()` does that.
///
/// It is another key than that of a `mutex` (a string, where that is a hash): if one name is used
/// for both, whichever comes second is `refused`. Everything else is as for `mutex`. Wire format,
/// and what the other programs do not do: docs/protocol/token.md.
class HOLDFAST_EXPORT token_mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed, or if
    /// the store keeps no such locks.
    token_mutex(client& home, lock_name name, token_options how = {});

    using basic_mutex::async_lock;

    /// As of `recursive_mutex`, with `recursion::counted`; else it completes with `already_held`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }
};

} // namespace holdfast
