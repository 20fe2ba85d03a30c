// SPDX-License-Identifier: Apache-2.0
// The verbs that all exclusive locks share. Include the lock you want instead: mutex.hpp,
// recursive_mutex.hpp.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <optional>
#include <stop_token>

namespace holdfast {

namespace sync {
class lock_object;
enum class recursion { refused, counted };
} // namespace sync

/// For a lock whose release is not waited for: its unlock() returns when the request is on its way,
/// which makes a pair of lock() and unlock() almost twice as fast. Whoever is told then that it was
/// released may still find it held for a moment. The next attempt at that lock in the same client
/// comes behind the release, whichever way each of them goes to the server: where it cannot follow
/// on the same connection, it waits for the release's answer (a command timeout at most),
/// `try_lock` too. The release is repeated until it is acknowledged, and close() waits for it; what
/// goes wrong with it the observer hears. A lease that is known to be lost is still told by
/// unlock().
struct deferred_release_t {
    explicit deferred_release_t() = default;
};
inline constexpr deferred_release_t deferred_release{};

namespace sync {
enum class ending { waited_for, deferred };
} // namespace sync

namespace detail {
/// How one acquisition shall go. A patience of zero or less is one attempt.
struct wish {
    duration patience = duration::max();
    std::optional<lease_time> lease{}; ///< given: the hold has that length and is not renewed
    std::stop_token cancel{};
};
using lease_handler = asio::any_completion_handler<void(error_code, lease)>;
using maybe_lease_handler = asio::any_completion_handler<void(error_code, std::optional<lease>)>;
} // namespace detail

/// *Lockable* and *TimedLockable*, with asynchronous twins and the questions one may ask.
///
/// Every acquiring verb has an overload with a `lease_time`: then the hold has that length and is
/// not renewed, as Redisson's `lock(leaseTime)`. Without one it has the lock's lease time and is
/// renewed until it is released.
///
/// Whoever waits is woken by the release. Nothing depends on that message: a waiter also asks when
/// the holder's lease ends, and at least every `poll_bound`. A wait survives a store that cannot be
/// reached for `unavailable_patience`. Local waiters are served in order of arrival; between
/// processes there is no order.
///
/// *Blocking verbs* tie the hold to the calling thread. They throw `boost::system::system_error`:
/// `unreachable`, `refused`, `outcome_unknown` (nothing is held that is not released in the
/// background), `closed`, `forked`, `overloaded`, `would_deadlock` (called on the client's
/// executor), `invalid_argument` (the lease time), `operation_aborted` (the stop token).
/// On an executor that nobody runs, or that is stuck, they return two seconds after their patience,
/// a second or two after the stop request, and two after `release_patience`: `unreachable` if
/// nothing was begun, else `outcome_unknown`. When it runs again the call is cancelled, what it had
/// got is given back, and a release is sent. Only `lock()` waits for such an executor, for ever.
/// *Asynchronous verbs* complete with a `lease` that owns the hold, and with the same codes.
/// Cancellation (terminal, partial and total alike): at any point, completes at once with
/// `operation_aborted`; what may have been taken is released in the background.
///
/// Thread safety: every member may be called from any thread.
class HOLDFAST_EXPORT basic_mutex {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    basic_mutex(const basic_mutex&) = delete;
    basic_mutex& operator=(const basic_mutex&) = delete;

    /// Returns holding the lock, or throws.
    void lock(std::stop_token cancel = {}) { (void)take({.cancel = std::move(cancel)}); }
    void lock(lease_time lease, std::stop_token cancel = {}) {
        (void)take({.lease = lease, .cancel = std::move(cancel)});
    }

    /// One attempt. False: somebody else holds it (or, within this client, waits for it).
    [[nodiscard]] bool try_lock() { return take({.patience = duration::zero()}); }
    [[nodiscard]] bool try_lock(lease_time lease) {
        return take({.patience = duration::zero(), .lease = lease});
    }

    /// At least one attempt, and more until `patience` is over; false then. It may return late by
    /// two command timeouts if the server stalls (three behind a deferred release), and never holds
    /// the lock when it returns false.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_for(length<Rep, Period> patience, std::stop_token cancel = {}) {
        return take({.patience = detail::saturate(patience, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_for(length<Rep, Period> patience, lease_time lease,
                                    std::stop_token cancel = {}) {
        return take({.patience = detail::saturate(patience, detail::rounding::up),
                     .lease = lease,
                     .cancel = std::move(cancel)});
    }

    /// On any clock; the time left is read once. `time_point::max()` means no limit.
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline,
                                      std::stop_token cancel = {}) {
        return try_lock_for(detail::patience_until(deadline), std::move(cancel));
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline,
                                      lease_time lease, std::stop_token cancel = {}) {
        return try_lock_for(detail::patience_until(deadline), lease, std::move(cancel));
    }

    /// Releases this thread's hold. Cannot throw, since std::lock_guard calls it in a destructor;
    /// what goes wrong the observer hears, and unlocking what this thread never held is an
    /// assertion in debug builds. `unlock(ec)` reports: `lease_lost` (somebody else may have had
    /// the lock already), `not_owner`, `closed`, `forked`, or a failure of the store when it was
    /// not acknowledged within `release_patience`, or the server said no: then it is repeated in
    /// the background, and this thread holds nothing any more.
    void unlock() noexcept;
    void unlock(error_code&) noexcept;

    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(Token&& token) {
        return initiate_lock({}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(lease_time lease, Token&& token) {
        return initiate_lock({.lease = lease}, std::forward<Token>(token));
    }

    // Complete with nothing, and no error, if the lock is still busy.
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock(Token&& token) {
        return initiate_try_lock({.patience = duration::zero()}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock(lease_time lease, Token&& token) {
        return initiate_try_lock({.patience = duration::zero(), .lease = lease},
                                 std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_for(length<Rep, Period> patience, Token&& token) {
        return initiate_try_lock({.patience = detail::saturate(patience, detail::rounding::up)},
                                 std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_for(length<Rep, Period> patience, lease_time lease, Token&& token) {
        return initiate_try_lock(
            {.patience = detail::saturate(patience, detail::rounding::up), .lease = lease},
            std::forward<Token>(token));
    }
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_until(std::chrono::time_point<Clock, Duration> deadline, Token&& token) {
        return async_try_lock_for(detail::patience_until(deadline), std::forward<Token>(token));
    }
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_until(std::chrono::time_point<Clock, Duration> deadline, lease_time lease,
                              Token&& token) {
        return async_try_lock_for(detail::patience_until(deadline), lease,
                                  std::forward<Token>(token));
    }

    // Questions about this thread: answered here, without a message. A lost hold is none.
    [[nodiscard]] bool is_held_by_this_thread() const;
    [[nodiscard]] std::size_t hold_count() const;

    // Questions to the store, about whoever holds it, a JVM too. The answer may be old when it
    // arrives. They throw as the acquiring verbs do.
    [[nodiscard]] bool is_locked() const;
    /// Nothing if the lock is free; `duration::max()` if the lease has no end.
    [[nodiscard]] std::optional<duration> remaining_lease() const;
    /// Takes the lock away from whoever holds it and wakes the waiters. False: it was free. The
    /// holder learns of it at once if it is in this client, else at its next renewal.
    bool force_unlock();

    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_is_locked(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [lock = lock_](auto handler) { start_is_locked(lock, std::move(handler)); }, token);
    }
    template <asio::completion_token_for<void(error_code, std::optional<duration>)> Token>
    auto async_remaining_lease(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::optional<duration>)>(
            [lock = lock_](auto handler) { start_remaining_lease(lock, std::move(handler)); },
            token);
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_force_unlock(Token&& token) {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [lock = lock_](auto handler) { start_force_unlock(lock, std::move(handler)); }, token);
    }

protected:
    basic_mutex(client&, lock_name, std::optional<duration> lease_time, sync::recursion,
                sync::ending = sync::ending::waited_for);
    ~basic_mutex();

    /// A second `lease` on the hold that `outer` has, without a message.
    static void start_share(std::shared_ptr<sync::lock_object>, std::shared_ptr<sync::wire_hold>,
                            detail::lease_handler);
    const std::shared_ptr<sync::lock_object>& object() const noexcept { return lock_; }

private:
    bool take(detail::wish);

    template <typename Token>
    auto initiate_lock(detail::wish how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [lock = lock_](auto handler, detail::wish wanted) {
                start_lock(lock, std::move(wanted), std::move(handler));
            },
            token, std::move(how));
    }
    template <typename Token>
    auto initiate_try_lock(detail::wish how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [lock = lock_](auto handler, detail::wish wanted) {
                start_try_lock(lock, std::move(wanted), std::move(handler));
            },
            token, std::move(how));
    }

    using shared_object = std::shared_ptr<sync::lock_object>;
    static void start_lock(shared_object, detail::wish, detail::lease_handler);
    static void start_try_lock(shared_object, detail::wish, detail::maybe_lease_handler);
    static void start_is_locked(shared_object,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_remaining_lease(
        shared_object, asio::any_completion_handler<void(error_code, std::optional<duration>)>);
    static void start_force_unlock(shared_object,
                                   asio::any_completion_handler<void(error_code, bool)>);

    std::shared_ptr<sync::lock_object> lock_;
};

} // namespace holdfast
