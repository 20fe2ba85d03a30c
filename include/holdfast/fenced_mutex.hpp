// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <cstdint>

namespace holdfast {

/// Options of `fenced_mutex`.
///
///     holdfast::fenced_mutex stock{client, "stock:42", {.numbers = holdfast::fencing::dated}};
struct fenced_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t
    fencing numbers = fencing::counted;
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// A `mutex` that gives each hold a *fencing token*: a number that is greater than the token of
/// every earlier hold. Redisson's fenced lock.
///
///     fenced_mutex stock{client, "stock:42"};
///     const std::scoped_lock held{stock};
///     write(row, stock.fencing_token());      // UPDATE … SET token = ? WHERE id = ? AND token < ?
///
/// A lease can end while its holder still works, because of a pause or a network partition. The
/// resource that the lock protects must then refuse writes of this old holder. To do so, the
/// resource stores the greatest token that it has seen, and refuses a write with a smaller token
/// (docs/howto/fencing.md).
///
/// Tokens grow across all clients, including JVMs, and across hand-overs within a client. There are
/// gaps between tokens. If the holder enters the lock again (recursion), the token stays the same.
///
/// *With `fencing::counted`*, as in Redisson, tokens start again at 1 if the server loses its data,
/// or if a JVM calls `delete()`. A failover may lose the last tokens.
///
/// *With `fencing::dated`*, a token is at least the server's time in µs. Such tokens grow even if
/// data is lost, unless the clock of the server that takes over is behind. `dated` needs the
/// permission to ask for the server's time (`+time`). Without the permission, the server refuses to
/// lock (`refused`).
///
/// All clients of a lock should use the same kind of tokens, `counted` or `dated`. MySQL always
/// uses `dated`; on ZooKeeper, tokens are transaction numbers (docs/stores.md). A fenced_mutex and
/// a `mutex` of the same name exclude each other. See `mutex` for everything else. Wire format:
/// docs/protocol/fenced.md.
class HOLDFAST_EXPORT fenced_mutex : public basic_mutex {
public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name or the
    /// lease time is not allowed, or if the store does not support fenced locks.
    fenced_mutex(client& home, lock_name name, fenced_options how = {});

    /// Returns the fencing token of this thread's hold, or 0 if this thread has no hold. Sends no
    /// request. After the hold is lost, the function still returns its token, because the protected
    /// resource decides whether to accept the token. If a lease owns the hold, use
    /// `lease::fencing_token()`.
    [[nodiscard]] std::uint64_t fencing_token() const noexcept;

    /// Asks the store for the greatest fencing token of this lock, and returns it. A hold may have
    /// the token, or the token may only be reserved for a hold. Returns 0 if the lock never had a
    /// token. On ZooKeeper, a free lock has no stored token. The function then returns a number
    /// that is greater than all earlier tokens and less than all later tokens. Throws the errors of
    /// `basic_mutex::is_locked()`.
    [[nodiscard]] std::uint64_t last_token() const;
    template <asio::completion_token_for<void(error_code, std::uint64_t)> Token>
    auto async_last_token(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::uint64_t)>(
            [lock = lock_descriptor()](auto handler) {
                start_last_token(lock, std::move(handler));
            },
            token);
    }

    using basic_mutex::async_lock;

    /// Completes with a second lease for the hold that the lease `outer` owns; see
    /// `recursive_mutex::async_lock`. Fails with `already_held` if this lock does not have the
    /// option `recursion::counted`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }

private:
    static void start_last_token(std::shared_ptr<sync::lock_descriptor>,
                                 asio::any_completion_handler<void(error_code, std::uint64_t)>);
};

} // namespace holdfast
