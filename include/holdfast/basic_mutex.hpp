// SPDX-License-Identifier: Apache-2.0
// The verbs that all locks share. Include the header of the lock that you want instead: mutex.hpp,
// recursive_mutex.hpp, fair_mutex.hpp, fenced_mutex.hpp, shared_mutex.hpp, spin_mutex.hpp,
// token_mutex.hpp.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>

namespace holdfast {

namespace sync {
class subject;
} // namespace sync

/// What happens when a thread locks again a lock that it holds: refused with `already_held`, or
/// counted.
enum class recursion : std::uint8_t { refused, counted };

/// For a lock whose unlock() does not wait: it returns when the release is on its way to the store.
/// A pair of lock() and unlock() is then almost twice as fast. After unlock() has returned, others
/// may still find the lock held for a moment. The next attempt at that lock in the same client
/// always comes behind the release: if it cannot follow on the same connection, it waits for the
/// release's answer (a command timeout at most), `try_lock` too. The release is repeated until it
/// is acknowledged or the lease has ended; close() waits for it, and errors go to the observer.
/// unlock() still reports a lease that is known to be lost.
struct deferred_release_t {
    explicit deferred_release_t() = default;
};
inline constexpr deferred_release_t deferred_release{};

/// For `mutex` and `recursive_mutex`.
///
///     holdfast::mutex stock{client, "stock:42", {.lease = holdfast::lease_time{5s}}};
struct mutex_options {
    std::optional<lease_time> lease{}; ///< instead of the client's; it is renewed all the same
    bool deferred = false;             ///< unlock() does not wait for the store: deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// The pauses of a waiter that nobody wakes: from `first` on, each twice as long as the one before,
/// up to `longest`, and each shortened at random by up to a half, so that waiters do not ask all at
/// once. Equal: always about the same.
struct backoff {
    duration first{1};
    duration longest{128};
};

namespace detail {
/// What the constructor of a lock type says of it.
struct lock_setup {
    lock_kind kind = lock_kind::plain;
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false;
    std::optional<backoff> polls{};     ///< of a lock of which nobody tells that it is free
    std::optional<duration> outlasts{}; ///< of a fair lock, see ask; empty: the usual
    fencing numbers = fencing::counted;
    std::optional<unsigned> replicas{}; ///< that are required; empty: as many as the client says
};

constexpr lock_setup setup_of(const mutex_options& how, recursion again) {
    return {.lease = how.lease,
            .again = again,
            .deferred = how.deferred,
            .replicas = how.required_replicas};
}

/// How to acquire. A patience of zero or less is one attempt.
struct wish {
    duration patience = duration::max();
    std::optional<lease_time> lease{}; ///< given: the hold has that length and is not renewed
    std::stop_token cancel{};
    bool upgrades = false; ///< on top of the read hold that this thread has
};
using lease_handler = asio::any_completion_handler<void(error_code, lease)>;
using maybe_lease_handler = asio::any_completion_handler<void(error_code, std::optional<lease>)>;
} // namespace detail

/// *Lockable* and *TimedLockable*, with asynchronous twins, and questions about the lock.
///
/// Every acquiring verb has an overload with a `lease_time`: then the hold has that length and is
/// not renewed, as with Redisson's `lock(leaseTime)`. Without one it has the lock's lease time and
/// is renewed until it is released.
///
/// The release wakes the waiters. Nothing depends on that message: a waiter also asks when the
/// holder's lease ends, and at least every `poll_bound`. While the store cannot be reached, a wait
/// goes on for `unavailable_patience`. Waiters of one client are served in order of arrival;
/// between processes there is no order.
///
/// *Blocking verbs* tie the hold to the calling thread. They throw `boost::system::system_error`:
/// `unreachable`, `refused`, `outcome_unknown` (a lock that may have been taken is released in the
/// background), `closed`, `forked`, `overloaded`, `would_deadlock` (called on the client's
/// executor, or on that of a member's client), `invalid_argument` (the lease time),
/// `operation_aborted` (the stop token), `clock_unstable`, `lease_lost` (this thread's own hold is
/// lost). If answers take longer than the lease, a take fails with `unreachable`.
///
/// If nobody runs the client's executor, or it is stuck, a verb returns two seconds after its
/// patience, one or two seconds after a stop request, and unlock() two seconds after
/// `release_patience`. The code is `unreachable` if an attempt to lock had not begun, else
/// `outcome_unknown`. When the executor runs again, the call is cancelled, a lock that it got is
/// given back, and unlock() sends its release. Only `lock()` without a stop request waits for ever.
///
/// *Asynchronous verbs* complete with a `lease` that owns the hold, and with the same codes. They
/// can be cancelled at any point (terminal, partial and total alike): they complete at once with
/// `operation_aborted`, and a lock that may have been taken is released in the background.
///
/// Thread safety: every member may be called from any thread.
class HOLDFAST_EXPORT basic_mutex {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    basic_mutex(const basic_mutex&) = delete;
    basic_mutex& operator=(const basic_mutex&) = delete;

    /// Returns with the lock held, or throws.
    void lock(std::stop_token cancel = {}) { (void)take({.cancel = std::move(cancel)}); }
    void lock(lease_time lease, std::stop_token cancel = {}) {
        (void)take({.lease = lease, .cancel = std::move(cancel)});
    }

    /// One attempt. False: somebody else holds it (or, within this client, waits for it).
    [[nodiscard]] bool try_lock() { return take({.patience = duration::zero()}); }
    [[nodiscard]] bool try_lock(lease_time lease) {
        return take({.patience = duration::zero(), .lease = lease});
    }

    /// At least one attempt, and more until `patience` is over. False: it was over, and the lock is
    /// not held. If the server stalls, it may return up to two command timeouts late (three behind
    /// a deferred release).
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

    /// On any clock; the time that is left is read once. `time_point::max()` means no limit.
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

    /// Releases this thread's hold. It cannot throw, since std::lock_guard calls it in a
    /// destructor: errors go to the observer, and in debug builds an assertion fails if this thread
    /// does not hold the lock. `unlock(ec)` reports `lease_lost` (somebody else may have had the
    /// lock already), `not_owner`, `closed`, `forked`, `would_deadlock` (it is released without
    /// waiting), or a failure of the store: the release was not acknowledged within
    /// `release_patience`, or the server refused it. Then it is repeated in the background, and
    /// this thread holds nothing any more.
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

    // They complete without a lease and without an error if the lock is still busy.
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

    // Questions about this thread, answered without a message. A lost hold does not count.
    [[nodiscard]] bool is_held_by_this_thread() const;
    [[nodiscard]] std::size_t hold_count() const;

    // Questions to the store about any holder, a JVM too. The answer may be old when it arrives.
    // They throw as the acquiring verbs do. The asynchronous ones cannot be cancelled.
    [[nodiscard]] bool is_locked() const;
    /// Empty if the lock is free; `duration::max()` if the lease has no end.
    [[nodiscard]] std::optional<duration> remaining_lease() const;
    /// Takes the lock away from its holder, and wakes the waiters. False: it was free. A holder in
    /// this client is notified at once (`lost()`), another one at its next renewal.
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
    basic_mutex(client&, lock_name, const detail::lock_setup&);
    explicit basic_mutex(std::shared_ptr<sync::subject>);
    ~basic_mutex();

    /// Completes with a second `lease` on the hold of `outer`, without a message.
    template <typename Token>
    auto initiate_share(const lease& outer, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [lock = lock_, hold = outer.hold()](auto handler) {
                start_share(lock, hold, std::move(handler));
            },
            token);
    }
    /// Beside the hold given, which has the other side of a lock that can be shared.
    static void start_lock_beside(std::shared_ptr<sync::subject>, std::shared_ptr<sync::tenure>,
                                  detail::wish, detail::lease_handler);
    static void start_try_lock_beside(std::shared_ptr<sync::subject>, std::shared_ptr<sync::tenure>,
                                      detail::wish, detail::maybe_lease_handler);
    const std::shared_ptr<sync::subject>& subject() const noexcept { return lock_; }
    static const std::shared_ptr<sync::subject>& subject_of(const basic_mutex& lock) noexcept {
        return lock.lock_;
    }
    bool take(detail::wish); ///< false: busy until its patience was over

    using shared_subject = std::shared_ptr<sync::subject>;
    static void start_try_lock(shared_subject, detail::wish, detail::maybe_lease_handler);

private:
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

    static void start_lock(shared_subject, detail::wish, detail::lease_handler);
    static void start_share(shared_subject, std::shared_ptr<sync::tenure>, detail::lease_handler);
    static void start_is_locked(shared_subject,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_remaining_lease(
        shared_subject, asio::any_completion_handler<void(error_code, std::optional<duration>)>);
    static void start_force_unlock(shared_subject,
                                   asio::any_completion_handler<void(error_code, bool)>);

    std::shared_ptr<sync::subject> lock_;
};

} // namespace holdfast
