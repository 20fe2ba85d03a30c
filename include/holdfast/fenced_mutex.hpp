// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <cstdint>

namespace holdfast {

/// For `fenced_mutex`.
///
///     holdfast::fenced_mutex stock{client, "stock:42", {.numbers = holdfast::fencing::dated}};
struct fenced_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store: deferred_release_t
    fencing numbers = fencing::counted;
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// A `mutex` whose every hold has a *fencing token*: a number that is greater than that of each
/// hold before it. Redisson's fenced lock.
///
///     fenced_mutex stock{client, "stock:42"};
///     const std::scoped_lock held{stock};
///     write(row, stock.fencing_token());      // UPDATE … SET token = ? WHERE id = ? AND token < ?
///
/// A lease can end while its holder still works: a pause, a partition. Whatever the lock protects
/// must then refuse the old holder, and a token is how it knows: it stores the greatest token that
/// it has seen, and refuses a smaller one (docs/howto/fencing.md).
///
/// Tokens grow over all clients, JVMs too, and over hand-offs within a client; there are gaps.
/// Re-entry has the token of its hold. With `fencing::counted`, as in Redisson, they begin again
/// at 1 if the server loses its data (a failover may lose the last ones), or if a JVM calls
/// `delete()`. With `fencing::dated` a token is at least the server's time in µs: it then grows
/// nevertheless, unless the new server's clock is behind. All clients of a lock should use the
/// same. `dated` needs the right to ask for the server's time (`+time`), else locking is `refused`.
///
/// On MySQL all are `dated`; on ZooKeeper they are numbers of transactions (docs/stores.md). It and
/// a `mutex` of that name exclude each other. Else as `mutex`. Format: docs/protocol/fenced.md.
class HOLDFAST_EXPORT fenced_mutex : public basic_mutex {
public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed, or if
    /// the store keeps no such locks.
    fenced_mutex(client& home, lock_name name, fenced_options how = {});

    /// Of this thread's hold, without a message; 0: this thread has none. It is still that of the
    /// hold when the hold is lost: let the resource decide. `lease::fencing_token()` is that of a
    /// lease.
    [[nodiscard]] std::uint64_t fencing_token() const noexcept;

    /// Asks the store: no hold ever had a greater token. It may be a reserved one that nobody was
    /// given. 0: none was ever given away. Throws as the questions of `basic_mutex` do.
    [[nodiscard]] std::uint64_t last_token() const;
    template <asio::completion_token_for<void(error_code, std::uint64_t)> Token>
    auto async_last_token(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::uint64_t)>(
            [lock = subject()](auto handler) { start_last_token(lock, std::move(handler)); },
            token);
    }

    using basic_mutex::async_lock;

    /// As of `recursive_mutex`, with `recursion::counted`; else it completes with `already_held`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }

private:
    static void start_last_token(std::shared_ptr<sync::subject>,
                                 asio::any_completion_handler<void(error_code, std::uint64_t)>);
};

} // namespace holdfast
