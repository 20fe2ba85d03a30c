// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// Options of `shared_mutex`, for its readers' side and its writers' side.
struct shared_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Reader-writer lock: many readers may share it, or one writer may hold it alone. It is compatible
/// with Redisson's RReadWriteLock.
///
///     holdfast::shared_mutex prices{client, "prices"};
///
///     std::shared_lock reading{prices};                              // shared with other readers
///     std::unique_lock writing{prices, 3s};                          // alone
///     lease held = co_await prices.async_lock_shared(asio::use_awaitable);
///
/// The type meets the requirements of std::shared_timed_mutex. The functions of `basic_mutex` lock
/// this object for a writer. `shared()` returns an object with the same functions for readers (the
/// readers' side).
///
/// *Readers* of one client that arrive within a short time share one hold at the store
/// (`options::hand_off::within`), so the later readers need no request. A reader that sets a lease
/// time gets its own hold. A shared hold counts as one hold for the observer.
///
/// *Writers.* While a holdfast writer waits, no holdfast client lets new readers in. A waiting
/// Redisson writer does not stop new readers. So the readers of a holdfast client sometimes pause
/// while a Redisson writer is subscribed to the lock's channel. The writer can acquire the lock in
/// such a pause (docs/guarantees.md).
///
/// *Downgrade*: a thread that holds the lock alone can also acquire it shared, without waiting.
/// After unlock(), that thread still shares the lock.
///
/// *Upgrade*: see try_upgrade_for(). If a thread that shares the lock calls lock(), the call fails
/// with `already_held`, because the thread would wait for itself.
///
/// The errors are the same as in `basic_mutex`. In addition, calls fail with `refused` if another
/// kind of lock uses the name. Thread safety: any thread may call every member. Wire format:
/// docs/protocol/shared.md.
class HOLDFAST_EXPORT shared_mutex : public basic_mutex {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if the name or the
    /// lease time is not allowed.
    shared_mutex(client& home, const lock_name& name, shared_options how = {})
        : basic_mutex{home, name, setup(lock_kind::write, how)}
        , readers_{home, name, setup(lock_kind::read, how)} {}

    /// Returns the readers' side as a lock, for example for std::unique_lock, for force_unlock(),
    /// and for the overloads with a lease time. The reference is valid as long as this object. Each
    /// side reports about itself only: is_locked() of the readers' side is true only if the lock is
    /// shared, and is_locked() of the writers' side only if a writer holds it.
    basic_mutex& shared() noexcept { return readers_; }
    const basic_mutex& shared() const noexcept { return readers_; }

    // Functions for readers. Each function does for a reader what the function of basic_mutex
    // without `_shared` in its name does for a writer.
    void lock_shared(std::stop_token cancel = {}) { readers_.lock(std::move(cancel)); }
    void lock_shared(lease_time lease, std::stop_token cancel = {}) {
        readers_.lock(lease, std::move(cancel));
    }
    [[nodiscard]] bool try_lock_shared() { return readers_.try_lock(); }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_shared_for(length<Rep, Period> timeout,
                                           std::stop_token cancel = {}) {
        return readers_.try_lock_for(timeout, std::move(cancel));
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline,
                                             std::stop_token cancel = {}) {
        return readers_.try_lock_until(deadline, std::move(cancel));
    }
    void unlock_shared() noexcept { readers_.unlock(); }
    void unlock_shared(error_code& ec) noexcept { readers_.unlock(ec); }

    /// Upgrades this thread's shared hold to an exclusive hold. Returns true if the thread now
    /// holds the lock alone. Between the shared hold and the exclusive hold, no other owner has
    /// held the lock alone. After the upgrade, unlock() makes the hold shared again, and
    /// unlock_shared() ends the hold. Returns false if other readers still shared the lock when
    /// `timeout` had passed; this thread then still shares it, too.
    ///
    /// Throws the errors of lock(), and also:
    /// - `not_owner`: this thread does not share the lock.
    /// - `lease_lost`: the shared hold of this thread is lost.
    /// - `would_deadlock`: another reader waits for its own upgrade. One of the two readers must
    ///   release its shared hold and start again.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_upgrade_for(length<Rep, Period> timeout, std::stop_token cancel = {}) {
        return take({.timeout = detail::saturate(timeout, detail::rounding::up),
                     .cancel = std::move(cancel),
                     .upgrades = true});
    }

    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock_shared(Token&& token) {
        return readers_.async_lock(std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock_shared(lease_time lease, Token&& token) {
        return readers_.async_lock(lease, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_shared(Token&& token) {
        return readers_.async_try_lock(std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_shared_for(length<Rep, Period> timeout, Token&& token) {
        return readers_.async_try_lock_for(timeout, std::forward<Token>(token));
    }

    /// Acquires a shared hold on the lock for the owner of the lease `exclusive`. Completes at once
    /// with a shared lease; `exclusive` stays valid. To downgrade, release `exclusive` afterwards.
    /// Fails with `not_owner` if `exclusive` does not hold this lock exclusively, and with
    /// `lease_lost` if its hold is lost.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock_shared(const lease& exclusive, Token&& token) {
        return readers_.async_lock_beside(exclusive, std::forward<Token>(token));
    }

    /// Upgrades the hold that `shared_hold` owns; see try_upgrade_for(). Completes with a second
    /// lease, which is exclusive. Completes without a lease and without an error if the timeout
    /// expired. Also fails with `lease_lost` if `shared_hold` is released before the upgrade has
    /// succeeded.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_upgrade_for(const lease& shared_hold, length<Rep, Period> timeout,
                               Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [lock = lock_descriptor(),
             hold = shared_hold.hold()](auto handler, detail::acquire_options how) mutable {
                start_try_lock_beside(lock, std::move(hold), std::move(how), std::move(handler));
            },
            token,
            detail::acquire_options{.timeout = detail::saturate(timeout, detail::rounding::up),
                                    .upgrades = true});
    }

private:
    class side final : public basic_mutex {
    public:
        side(client& home, const lock_name& name, const detail::lock_setup& how)
            : basic_mutex{home, name, how} {}

        template <typename Token>
        auto async_lock_beside(const lease& exclusive, Token&& token) {
            return asio::async_initiate<Token, void(error_code, lease)>(
                [lock = lock_descriptor(), hold = exclusive.hold()](auto handler) {
                    start_lock_beside(lock, hold, {}, std::move(handler));
                },
                token);
        }
    };

    static detail::lock_setup setup(lock_kind kind, const shared_options& how) {
        return {.kind = kind,
                .lease = how.lease,
                .again = how.again,
                .deferred = how.deferred,
                .replicas = how.required_replicas};
    }

    side readers_;
};

} // namespace holdfast
