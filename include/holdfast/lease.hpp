// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/time.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast {

namespace sync {
class wire_hold;
} // namespace sync

/// A hold on a lock: kept alive in the background until it is released, or lost.
///
///     lease held = co_await stock.async_lock(asio::use_awaitable);
///     work(held.lost());                                  // stops when the lock is no longer ours
///     co_await held.async_unlock(asio::use_awaitable);
///
/// It owns the hold, wherever it moves; no thread does. Destroying it releases without waiting.
/// A lease counts from when its request was sent, on CLOCK_BOOTTIME, less a margin: the process
/// stops believing before the store forgets (docs/guarantees.md).
/// Thread safety: distinct leases freely; one lease as any object, but for `lost`, `in_danger`,
/// `remaining` and `owns_lock`, which any thread may call while it is not moved.
class HOLDFAST_EXPORT [[nodiscard]] lease {
public:
    lease() noexcept = default; ///< holds nothing
    lease(lease&&) noexcept = default;
    lease& operator=(lease&&) noexcept;
    ~lease();

    /// Whether the lock may be believed to be held now. Asks the clock, not the store.
    [[nodiscard]] bool owns_lock() const noexcept;
    explicit operator bool() const noexcept { return owns_lock(); }

    /// Stop is requested when the lease can no longer be trusted: the store refused it, its term
    /// ended, it was forced, or the client closes. Callbacks run on the client's executor; a token
    /// that is asked for afterwards is stopped already, and runs them where they are made. In a
    /// child of fork() it is requested already; a token from before the fork never hears there.
    [[nodiscard]] std::stop_token lost() const;

    /// Stop is requested when renewals fail and the end comes near. A renewal that succeeds ends
    /// the danger; ask again then for a fresh token.
    [[nodiscard]] std::stop_token in_danger() const;

    /// How long the lock may still be believed to be held if no renewal comes. Zero if it is not.
    [[nodiscard]] duration remaining() const noexcept;

    /// The lock's name as the store sees it, and `<uuid>:<number>` as it names this hold there.
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string owner() const;

    /// Makes the lease last at least `length` from now, and renewal keep to it if it is renewed;
    /// never shortens it. Fails with `lease_lost` if it is gone; after any other error it is
    /// as it was.
    void extend(lease_time length);
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_extend(lease_time length, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [hold = hold_](auto handler, lease_time wanted) {
                start_extend(hold, wanted, std::move(handler));
            },
            token, length);
    }

    /// Releases; afterwards this object holds nothing, whatever the outcome. `lease_lost`: somebody
    /// else may have had the lock already. Any failure of the store: not acknowledged within
    /// `release_patience`, or the server said no; it is repeated in the background.
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

    explicit lease(std::shared_ptr<sync::wire_hold>) noexcept; // for the library itself
    const std::shared_ptr<sync::wire_hold>& hold() const noexcept { return hold_; } // likewise

private:
    static void start_extend(std::shared_ptr<sync::wire_hold>, lease_time,
                             asio::any_completion_handler<void(error_code)>);
    static void start_unlock(std::shared_ptr<sync::wire_hold>,
                             asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<sync::wire_hold> hold_;
};

} // namespace holdfast
