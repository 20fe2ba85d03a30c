// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

namespace sync {
class tenure;
} // namespace sync

/// A hold on a lock. Unless it was taken with a lease time, it is renewed in the background until
/// it is released or lost.
///
///     lease held = co_await stock.async_lock(asio::use_awaitable);
///     work(held.lost());                                  // stops when the lock is no longer ours
///     co_await held.async_unlock(asio::use_awaitable);
///
/// This object owns the hold, and no thread does; a lease may be moved anywhere. Its destructor
/// releases without waiting. The time of a lease counts from the moment when its request was sent,
/// on CLOCK_BOOTTIME, less a margin: the process stops believing before the store forgets
/// (docs/guarantees.md).
/// Thread safety: different leases are independent. One lease is like any object, except that any
/// thread may call `lost`, `in_danger`, `remaining` and `owns_lock` while nobody moves, releases or
/// destroys it.
class HOLDFAST_EXPORT [[nodiscard]] lease {
public:
    lease() noexcept = default; ///< holds nothing
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) noexcept;
    ~lease();

    /// Whether the hold is believed now. It looks at the clock, and does not ask the store.
    [[nodiscard]] bool owns_lock() const noexcept;
    explicit operator bool() const noexcept { return owns_lock(); }

    /// Stop is requested when the hold is not believed any more: the store refused it, its term
    /// ended, it was forced, or the client closes. Callbacks run on the client's executor. They
    /// must not block: nothing is renewed meanwhile, and other holds of the client end. This
    /// function looks at the clock. A token that is asked for after the loss is stopped already,
    /// even if the executor is blocked: its callbacks run at once, on the thread that makes them. A
    /// token that was asked for before is stopped when the executor runs. In a child of fork(), a
    /// token is stopped already, but a token from before the fork is never stopped there.
    [[nodiscard]] std::stop_token lost() const;

    /// Stop is requested when a renewed hold will end soon (a third of its lease is left), because
    /// renewals fail or `max_hold` has ended them; and at a loss, if not before. A renewal that
    /// succeeds ends the danger: ask for a new token then. It looks at the clock, as lost() does,
    /// and its callbacks must not block either. Where holds last as long as a session it is a third
    /// of that, and a fixed lease that is longer is warned of, too.
    [[nodiscard]] std::stop_token in_danger() const;

    /// How long the hold is still believed if no renewal comes. Zero: it is not believed.
    [[nodiscard]] duration remaining() const noexcept;

    /// The lock's name in the store (with the prefix), and the owner of this hold there:
    /// `<uuid>:<number>`.
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string owner() const;

    /// Of a hold of a `fenced_mutex`: greater than that of each hold before it, and the same after
    /// the hold is lost. 0: another lock's, or this lease holds nothing.
    [[nodiscard]] std::uint64_t fencing_token() const noexcept;

    /// Returns the ids of the permits that this lease holds, as Redisson writes them. The result is
    /// empty if it is the lease of a lock, or if it holds nothing. An id names no permit of a later
    /// holder: once it was asked for, a release goes to the store, and the next holder gets new
    /// ids.
    [[nodiscard]] std::vector<std::string> permit_ids() const;

    /// Makes the lease last at least `length` from now; it never shortens it. If the hold is
    /// renewed, renewals use at least that length from then on. Fails with `lease_lost` if the hold
    /// is gone; after any other error the hold is as it was.
    void extend(lease_time length);
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_extend(lease_time length, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [hold = hold_](auto handler, lease_time wanted) {
                start_extend(hold, wanted, std::move(handler));
            },
            token, length);
    }

    /// Releases. Afterwards this object holds nothing, whatever the outcome. `lease_lost`: somebody
    /// else may have had the lock already. A failure of the store: the release was not acknowledged
    /// within `release_patience`, or the server refused it; it is repeated in the background.
    /// `would_deadlock` (on the client's executor, or on that of a member's client): it is released
    /// without waiting.
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

    explicit lease(std::shared_ptr<sync::tenure>) noexcept; // for the library itself
    const std::shared_ptr<sync::tenure>& hold() const noexcept { return hold_; } // likewise

private:
    static void start_extend(std::shared_ptr<sync::tenure>, lease_time,
                             asio::any_completion_handler<void(error_code)>);
    static void start_unlock(std::shared_ptr<sync::tenure>,
                             asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::tenure> hold_;
};

} // namespace holdfast
