// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

namespace holdfast {

/// For `shared_mutex`; both of its sides.
struct shared_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    recursion again = recursion::refused;
    bool deferred = false; ///< unlock() does not wait for the store: deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// A lock that many may share, or one may have alone: Redisson's RReadWriteLock.
///
///     holdfast::shared_mutex prices{client, "prices"};
///
///     std::shared_lock reading{prices};                              // beside other readers
///     std::unique_lock writing{prices, 3s};                          // alone
///     lease held = co_await prices.async_lock_shared(asio::use_awaitable);
///
/// It meets the requirements of std::shared_timed_mutex. As a `basic_mutex` it is its writers'
/// side; `shared()` is its readers' side, with the same verbs.
///
/// *Readers* of one client that come soon after each other share one hold of the store
/// (`options::hand_off::within`), and the later ones need no message; those who name a lease time
/// have a hold of their own. A hold that several share is one for the observer.
/// *A writer* that waits keeps new readers away, those of every holdfast client too. A writer of
/// Redisson's does not: it finds gaps that the readers of a client leave while it listens
/// (docs/guarantees.md).
///
/// *Downgrade*: a thread that holds the lock alone may share it, too, at once; unlock() then leaves
/// it shared. *Upgrade*: try_upgrade_for(). A thread that holds it shared and calls lock() would
/// wait for itself: `already_held`.
///
/// Errors are those of `basic_mutex`. `refused` if the name is kept by another kind of lock.
/// Thread safety: every member may be called from any thread. Wire format: docs/protocol/shared.md.
class HOLDFAST_EXPORT shared_mutex : public basic_mutex {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the lease time is not allowed.
    shared_mutex(client& home, const lock_name& name, shared_options how = {})
        : basic_mutex{home, name, setup(lock_kind::write, how)}
        , readers_{home, name, setup(lock_kind::read, how)} {}

    /// The readers' side as a lock: its questions, its overloads with a lease time, its
    /// force_unlock(); for std::unique_lock. It lives as long as this object. Each side tells of
    /// itself: is_locked() of the one may be true while the lock is held by the other alone.
    basic_mutex& shared() noexcept { return readers_; }
    const basic_mutex& shared() const noexcept { return readers_; }

    // As the verbs of basic_mutex, and for as long as the lease of the hold.
    void lock_shared(std::stop_token cancel = {}) { readers_.lock(std::move(cancel)); }
    void lock_shared(lease_time lease, std::stop_token cancel = {}) {
        readers_.lock(lease, std::move(cancel));
    }
    [[nodiscard]] bool try_lock_shared() { return readers_.try_lock(); }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_shared_for(length<Rep, Period> patience,
                                           std::stop_token cancel = {}) {
        return readers_.try_lock_for(patience, std::move(cancel));
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline,
                                             std::stop_token cancel = {}) {
        return readers_.try_lock_until(deadline, std::move(cancel));
    }
    void unlock_shared() noexcept { readers_.unlock(); }
    void unlock_shared(error_code& ec) noexcept { readers_.unlock(ec); }

    /// This thread holds the lock shared. True: it holds it alone, too; unlock() makes it shared
    /// again, and unlock_shared() ends that. Nobody has had it alone between. False: other readers
    /// stayed until `patience` was over, and this thread goes on sharing it.
    /// Throws what lock() throws, and `not_owner` if this thread does not share it, `lease_lost` if
    /// that hold is lost, `would_deadlock` if another reader waits for its own upgrade: one of the
    /// two must give way, so release it and begin anew.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_upgrade_for(length<Rep, Period> patience, std::stop_token cancel = {}) {
        return take({.patience = detail::saturate(patience, detail::rounding::up),
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
    auto async_try_lock_shared_for(length<Rep, Period> patience, Token&& token) {
        return readers_.async_try_lock_for(patience, std::forward<Token>(token));
    }

    /// Completes with a shared lease beside `exclusive`, at once: release that one to downgrade.
    /// `not_owner` if it is no exclusive hold of this lock, `lease_lost` if it is lost.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock_shared(const lease& exclusive, Token&& token) {
        return readers_.async_lock_beside(exclusive, std::forward<Token>(token));
    }

    /// As try_upgrade_for(), for the hold that `shared_hold` owns: completes with a second,
    /// exclusive lease beside it, or without one and without an error. `lease_lost` also if
    /// `shared_hold` is released meanwhile.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_upgrade_for(const lease& shared_hold, length<Rep, Period> patience,
                               Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [lock = subject(), hold = shared_hold.hold()](auto handler, detail::wish how) mutable {
                start_try_lock_beside(lock, std::move(hold), std::move(how), std::move(handler));
            },
            token,
            detail::wish{.patience = detail::saturate(patience, detail::rounding::up),
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
                [lock = subject(), hold = exclusive.hold()](auto handler) {
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
