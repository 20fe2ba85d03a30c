// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/ticket.hpp>
#include <holdfast/time.hpp>
#include <holdfast/wish.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

namespace sync {
class lock_handle;
} // namespace sync

/// Object that owns a *hold*: the right to a lock. The client renews the hold in the background
/// until it is released or lost, unless the lock was acquired with a lease time.
///
///     lease held = co_await stock.async_lock(asio::use_awaitable);
///     work(held.lost());                                  // stops when the lock is no longer ours
///     co_await held.async_unlock(asio::use_awaitable);
///
/// The lease object owns the hold; no thread owns it. A lease may be moved to any thread. The
/// destructor releases the lock and does not wait for the store. The time of a lease is measured on
/// CLOCK_BOOTTIME from the moment when its request was sent, minus a safety margin. So the client
/// reports the loss of the lock before the store can grant the lock to another client
/// (docs/guarantees.md).
///
/// Thread safety: different leases are independent. Two threads must not use one lease at the same
/// time, with one exception. Any thread may call `lost`, `in_danger`, `asked`, `received_wish`,
/// `remaining` and `owns_lock` while no other thread moves, releases or destroys the lease.
class HOLDFAST_EXPORT [[nodiscard]] lease {
public:
    lease() noexcept = default; ///< creates a lease that holds nothing
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) noexcept;
    ~lease();

    /// Returns whether the hold is still valid. Only reads the clock, and sends no request to the
    /// store.
    [[nodiscard]] bool owns_lock() const noexcept;
    explicit operator bool() const noexcept { return owns_lock(); }

    /// Returns a token whose stop is requested when the hold is lost. A hold is lost when the store
    /// refuses the renewal, when the validity ends, when the lock is removed by force_unlock(), or
    /// when the client closes.
    ///
    /// Stop callbacks run on the client's executor and must not block. While a callback blocks, the
    /// client renews nothing, and its other leases may expire.
    ///
    /// lost() reads the clock at each call. If the hold is lost already, the returned token is
    /// already stopped, even if the executor is blocked. A callback that is registered on a stopped
    /// token runs at once, on the registering thread. A token from an earlier call is stopped only
    /// when the executor runs.
    ///
    /// In a child of fork(), a new token is stopped at once. A token from before the fork is never
    /// stopped there.
    [[nodiscard]] std::stop_token lost() const;

    /// Returns a token whose stop is requested when a renewed hold will end soon: a third of its
    /// lease is left, because renewals fail or `max_hold` has stopped them. The stop is also
    /// requested when the hold is lost. A stopped token stays stopped, so call the function again
    /// for a new token after a later renewal has succeeded. Like lost(), the function reads the
    /// clock at each call, and callbacks must not block.
    ///
    /// On ZooKeeper, a hold lasts as long as the client's session. There the limit is a third of
    /// the session timeout or of the lease, whichever is shorter. The token then also warns for a
    /// fixed lease that is longer than the session.
    [[nodiscard]] std::stop_token in_danger() const;

    /// Returns a token whose stop is requested when another program asks for the lock
    /// (`client::ask_for`, `holdfast ask`). The holder may release the lock early, or go on; the
    /// client itself does nothing. After the stop request, received_wish() returns the reason of
    /// the other program.
    ///
    /// The first call for a hold makes the client listen for wishes: the client subscribes to them,
    /// and reads the stored wish at once and each third of the lease. So a lost notification only
    /// delays the wish. If asked() is never called, the client sends no such requests. After a
    /// wish, the client does not pass the lock on to another of its waiters, but releases it at the
    /// store.
    ///
    /// The stop is never requested if the store has no wishes (MySQL, ZooKeeper) or does not permit
    /// them, if the lease holds permits, or if the lease holds nothing. Stop callbacks must not
    /// block; see lost().
    [[nodiscard]] std::stop_token asked() const;

    /// Returns the wish that this hold has received. The same wish has triggered the stop tokens
    /// that asked() returns. Returns nothing if no wish has arrived. If the hold is on several
    /// locks, returns the wish for one of these locks.
    [[nodiscard]] std::optional<wish> received_wish() const;

    /// Returns how long the hold stays valid if no renewal succeeds. The result is zero if the hold
    /// is not valid.
    [[nodiscard]] duration remaining() const noexcept;

    /// name() returns the lock's name at the store, with the prefix. owner() returns the text that
    /// identifies this hold at the store, `<uuid>:<number>`.
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string owner() const;

    /// Returns the fencing token of a hold of a `fenced_mutex`: a number that is greater than the
    /// token of every earlier hold. The token does not change when the hold is lost. Returns 0 for
    /// other types of locks, and if this lease holds nothing.
    [[nodiscard]] std::uint64_t fencing_token() const noexcept;

    /// Returns the ids of the permits that this lease holds, as Redisson writes them. Returns
    /// nothing if the lease belongs to a lock, or if it holds nothing. After the call has returned
    /// ids, the release of this lease always goes to the store, and no waiting call of this client
    /// gets the permits directly. So each id stays the id of this lease's permit, and never becomes
    /// the id of a later holder's permit.
    [[nodiscard]] std::vector<std::string> permit_ids() const;

    /// Makes the lease last at least `length` from now, and never shortens it. If the hold is
    /// renewed, later renewals request at least this length, too. Fails with `lease_lost` if the
    /// hold is lost. After any other error, the hold is as it was before.
    void extend(lease_time length);
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_extend(lease_time length, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [hold = hold_](auto handler, lease_time wanted) {
                start_extend(hold, wanted, std::move(handler));
            },
            token, length);
    }

    /// Ends the renewal of this hold and returns a ticket. The lock is not released: it stays held
    /// at the store until its present lease ends. Call extend() first if the rest of the lease is
    /// too short. Afterwards this object holds nothing, and the stop tokens that lost() has
    /// returned are never stopped. Sends no request. After an error, the lease is as it was before.
    /// The errors are:
    /// - `lease_lost`: the hold has ended.
    /// - `invalid_argument`: this hold cannot be detached. Four kinds of holds cannot: a read
    ///   hold, a hold on several locks, a hold that other leases or threads share, and a hold that
    ///   ends with the client's session (ZooKeeper).
    [[nodiscard]] ticket detach();
    /// Detaches the hold as detach() does, but asynchronously. After the call, this object holds
    /// nothing, even if the operation fails. If the hold cannot be detached, the client releases
    /// it.
    template <asio::completion_token_for<void(error_code, ticket)> Token>
    auto async_detach(Token&& token) {
        return asio::async_initiate<Token, void(error_code, ticket)>(
            [self = std::move(*this)](auto handler) mutable {
                start_detach(std::move(self), std::move(handler));
            },
            token);
    }

    /// Releases the lock. Afterwards this object holds nothing, even after an error. The errors
    /// are:
    /// - `lease_lost`: another client may have had the lock already.
    /// - A failure of the store: it did not acknowledge the release in time (see
    ///   `options::release_timeout`), or refused it. The release is repeated in the background.
    /// - `would_deadlock` (the call runs on the executor of the client, or of a member's client):
    ///   the lock is released without waiting.
    void unlock() noexcept;
    void unlock(error_code&) noexcept;
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_unlock(Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [self = std::move(*this)](auto handler) mutable {
                start_unlock(std::move(self.hold_), std::move(handler));
            },
            token);
    }

    explicit lease(std::shared_ptr<sync::lock_handle>) noexcept; // for the library itself
    // Returns the hold. Only the library itself calls this function.
    const std::shared_ptr<sync::lock_handle>& hold() const noexcept { return hold_; }

private:
    static void start_extend(std::shared_ptr<sync::lock_handle>, lease_time,
                             asio::any_completion_handler<void(error_code)>);
    static void start_detach(lease, asio::any_completion_handler<void(error_code, ticket)>);
    static void start_unlock(std::shared_ptr<sync::lock_handle>,
                             asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::lock_handle> hold_;
};

} // namespace holdfast
