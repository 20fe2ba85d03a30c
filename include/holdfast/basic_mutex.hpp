// SPDX-License-Identifier: Apache-2.0
// Functions that all locks share. Do not include this header; include the header of the lock that
// you want: mutex.hpp, recursive_mutex.hpp, fair_mutex.hpp, fenced_mutex.hpp, shared_mutex.hpp,
// spin_mutex.hpp, token_mutex.hpp.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>

namespace holdfast {

namespace sync {
class lock_descriptor;
} // namespace sync

/// Behaviour of a second lock() by the thread that holds the lock. `refused`: the call fails with
/// `already_held`. `counted`: the lock counts the calls, and the last unlock() releases it.
enum class recursion : std::uint8_t { refused, counted };

/// Tag for a lock whose unlock() does not wait: unlock() returns when the release is on its way to
/// the store. A pair of lock() and unlock() is then almost twice as fast. After unlock() has
/// returned, other clients may still find the lock held for a moment.
///
/// The next attempt of the same client to acquire the lock always comes after the release. If the
/// attempt cannot use the connection of the release, it waits for the reply to the release, at most
/// for a command timeout; `try_lock` waits, too.
///
/// The release is repeated until it is acknowledged or the lease has expired. close() waits for it,
/// and errors go to the observer. unlock() still reports `lease_lost` if the client has already
/// noticed the loss.
struct deferred_release_t {
    explicit deferred_release_t() = default;
};
inline constexpr deferred_release_t deferred_release{};

/// Options of `mutex` and `recursive_mutex`.
///
///     holdfast::mutex stock{client, "stock:42", {.lease = holdfast::lease_time{5s}}};
struct mutex_options {
    /// Lease time of this lock. It replaces the lease time of the client. Holds are renewed as
    /// usual.
    std::optional<lease_time> lease{};
    bool deferred = false; ///< unlock() does not wait for the store; see deferred_release_t
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Pauses between the polls of a waiter that receives no notification. The first pause is `first`;
/// each later pause is twice as long, up to `longest`. Each pause is shortened at random by up to
/// half, so that the waiters do not all poll at the same time. If `first` and `longest` are equal,
/// the pauses do not grow.
struct backoff {
    duration first{1};
    duration longest{128};
};

namespace detail {
/// Settings that the constructor of a lock type (for example `mutex`) passes to `basic_mutex`.
struct lock_setup {
    lock_kind kind = lock_kind::plain;
    std::optional<lease_time> lease{};
    recursion again = recursion::refused;
    bool deferred = false;
    /// Pauses of the waiters between two polls. This field is set only for a type of lock whose
    /// release sends no notification.
    std::optional<backoff> polls{};
    /// For a fair lock: how long a waiter stays in the queue without sending a request (see
    /// `ask::outlasts`). If this option is empty, the default value applies.
    std::optional<duration> outlasts{};
    fencing numbers = fencing::counted;
    std::optional<unsigned> replicas{}; ///< number of required replicas; empty: the client's value
};

constexpr lock_setup setup_of(const mutex_options& how, recursion again) {
    return {.lease = how.lease,
            .again = again,
            .deferred = how.deferred,
            .replicas = how.required_replicas};
}

/// Options of a call that acquires a lock. If `timeout` is zero or less, the call makes one
/// attempt.
struct acquire_options {
    duration timeout = duration::max();
    std::optional<lease_time> lease{}; ///< if set, the hold lasts for this time and is not renewed
    std::stop_token cancel{};
    bool upgrades = false; ///< true: upgrades the read hold of this thread
};
using lease_handler = asio::any_completion_handler<void(error_code, lease)>;
using maybe_lease_handler = asio::any_completion_handler<void(error_code, std::optional<lease>)>;
} // namespace detail

/// Base class of the locks: *Lockable* and *TimedLockable*, asynchronous versions of their
/// functions, and functions that ask about the lock.
///
/// *Lease time.* Every acquiring function has an overload with a `lease_time`. A hold that such a
/// call acquires lasts for that time and is not renewed (Redisson: `lock(leaseTime)`). Without a
/// `lease_time`, the hold has the lease time of the lock object, and is renewed until it is
/// released.
///
/// *Waiting.* A release notifies the waiters. Correctness does not depend on that notification: a
/// waiter also polls when the holder's lease expires, and at least every `poll_bound`. While the
/// store cannot be reached, a call waits for at most `unavailable_timeout`. Waiters of one client
/// get the lock in order of arrival. Waiters of different processes get it in any order.
///
/// *Blocking functions* tie the hold to the calling thread. They throw
/// `boost::system::system_error` with one of these codes:
/// - `unreachable`: the store cannot be reached, or its replies take longer than the lease.
/// - `refused`, `closed`, `forked`, `overloaded`, `clock_unstable`: see error.hpp.
/// - `outcome_unknown`: a lock that may have been acquired is released in the background.
/// - `would_deadlock`: the call runs on the executor of the client, or of a member's client.
/// - `invalid_argument`: the lease time is not allowed.
/// - `operation_aborted`: the stop token requested a stop.
/// - `lease_lost`: this thread already had a hold of the lock, and that hold is lost.
///
/// *If no thread runs the client's executor*, or the executor is blocked, a call still returns. An
/// acquiring call returns two seconds after its timeout, or one to two seconds after a stop
/// request. unlock() returns two seconds after `release_timeout`. The error code is `unreachable`
/// if no attempt to lock had begun, otherwise `outcome_unknown`. When the executor runs again, the
/// call is cancelled, a lock that it acquired is released, and unlock() sends its release. Only
/// `lock()` without a stop request waits for ever.
///
/// *Asynchronous functions* complete with a `lease` that owns the hold, and with the same codes.
/// They can be cancelled at any time (terminal, partial and total cancellation have the same
/// effect). They then complete at once with `operation_aborted`, and a lock that may have been
/// acquired is released in the background.
///
/// Thread safety: any thread may call every member.
class HOLDFAST_EXPORT basic_mutex {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    basic_mutex(const basic_mutex&) = delete;
    basic_mutex& operator=(const basic_mutex&) = delete;

    /// Acquires the lock, and waits if it is busy. When the call returns, the calling thread holds
    /// the lock. Throws if it cannot get the lock.
    void lock(std::stop_token cancel = {}) { (void)take({.cancel = std::move(cancel)}); }
    void lock(lease_time lease, std::stop_token cancel = {}) {
        (void)take({.lease = lease, .cancel = std::move(cancel)});
    }

    /// Tries once to acquire the lock. Returns false if another owner holds the lock, or if a call
    /// of this client already waits for the lock.
    [[nodiscard]] bool try_lock() { return take({.timeout = duration::zero()}); }
    [[nodiscard]] bool try_lock(lease_time lease) {
        return take({.timeout = duration::zero(), .lease = lease});
    }

    /// Tries to acquire the lock until `timeout` has passed; makes at least one attempt. Returns
    /// false if the lock stayed busy; the caller then does not hold it. If the server stalls, the
    /// call can return later than after `timeout`, by up to two command timeouts (three after a
    /// deferred release).
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_for(length<Rep, Period> timeout, std::stop_token cancel = {}) {
        return take({.timeout = detail::saturate(timeout, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_for(length<Rep, Period> timeout, lease_time lease,
                                    std::stop_token cancel = {}) {
        return take({.timeout = detail::saturate(timeout, detail::rounding::up),
                     .lease = lease,
                     .cancel = std::move(cancel)});
    }

    /// Tries to acquire the lock until a deadline, which can be a time of any clock; see
    /// try_lock_for(). The time that remains is computed once, at the start. `time_point::max()`
    /// means no limit.
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline,
                                      std::stop_token cancel = {}) {
        return try_lock_for(detail::timeout_until(deadline), std::move(cancel));
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline,
                                      lease_time lease, std::stop_token cancel = {}) {
        return try_lock_for(detail::timeout_until(deadline), lease, std::move(cancel));
    }

    /// Releases this thread's hold. unlock() cannot throw, because std::lock_guard calls it in a
    /// destructor; errors go to the observer. In debug builds, an assertion fails if this thread
    /// does not hold the lock. `unlock(ec)` reports these errors:
    /// - `lease_lost`: another client may have had the lock already.
    /// - `not_owner`, `closed`, `forked`.
    /// - `would_deadlock`: the lock is released without waiting.
    /// - A failure of the store: it did not acknowledge the release in time (see
    ///   `options::release_timeout`), or refused it. The release is then repeated in the
    ///   background. This thread no longer holds the lock.
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

    // If the lock is still busy at the end of the timeout, the async_try functions complete with an
    // empty optional and without an error.
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock(Token&& token) {
        return initiate_try_lock({.timeout = duration::zero()}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock(lease_time lease, Token&& token) {
        return initiate_try_lock({.timeout = duration::zero(), .lease = lease},
                                 std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_for(length<Rep, Period> timeout, Token&& token) {
        return initiate_try_lock({.timeout = detail::saturate(timeout, detail::rounding::up)},
                                 std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_for(length<Rep, Period> timeout, lease_time lease, Token&& token) {
        return initiate_try_lock(
            {.timeout = detail::saturate(timeout, detail::rounding::up), .lease = lease},
            std::forward<Token>(token));
    }
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_until(std::chrono::time_point<Clock, Duration> deadline, Token&& token) {
        return async_try_lock_for(detail::timeout_until(deadline), std::forward<Token>(token));
    }
    template <typename Clock, typename Duration,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_until(std::chrono::time_point<Clock, Duration> deadline, lease_time lease,
                              Token&& token) {
        return async_try_lock_for(detail::timeout_until(deadline), lease,
                                  std::forward<Token>(token));
    }

    // `is_held_by_this_thread()` returns whether this thread holds the lock, and `hold_count()` how
    // many times the thread has locked it. Both functions send no request. If the hold is lost,
    // they return false and 0.
    [[nodiscard]] bool is_held_by_this_thread() const;
    [[nodiscard]] std::size_t hold_count() const;

    // The next functions ask the store about the lock. The lock may be held by any client, also by
    // a JVM. The result may be out of date when the call returns. The functions throw the errors of
    // the acquiring functions. Their asynchronous versions cannot be cancelled.
    [[nodiscard]] bool is_locked() const;
    /// Returns how long the holder's lease still lasts. The result is empty if the lock is free,
    /// and `duration::max()` if the lease never expires. On ZooKeeper, the result is always
    /// `duration::max()`: a hold ends with the session of its holder, and no other client can find
    /// out when this session ends.
    [[nodiscard]] std::optional<duration> remaining_lease() const;
    /// Removes the lock from its holder and notifies the waiters. Returns false if the lock was
    /// free. If the holder belongs to this client, it learns of the loss at once (`lost()`).
    /// Otherwise it learns of the loss at its next renewal. During a failover, the blocking call
    /// repeats its request until another server has taken over. The call does not repeat a request
    /// that a server may have executed.
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
    explicit basic_mutex(std::shared_ptr<sync::lock_descriptor>);
    ~basic_mutex();

    /// Completes with a second `lease` for the hold that the lease `outer` owns. Sends no request.
    template <typename Token>
    auto initiate_share(const lease& outer, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [lock = lock_, hold = outer.hold()](auto handler) {
                start_share(lock, hold, std::move(handler));
            },
            token);
    }
    /// Acquires one side (read or write) of a shared lock. The owner already holds the other side.
    static void start_lock_beside(std::shared_ptr<sync::lock_descriptor>,
                                  std::shared_ptr<sync::lock_handle>, detail::acquire_options,
                                  detail::lease_handler);
    static void start_try_lock_beside(std::shared_ptr<sync::lock_descriptor>,
                                      std::shared_ptr<sync::lock_handle>, detail::acquire_options,
                                      detail::maybe_lease_handler);
    const std::shared_ptr<sync::lock_descriptor>& lock_descriptor() const noexcept { return lock_; }
    static const std::shared_ptr<sync::lock_descriptor>&
    descriptor_of(const basic_mutex& lock) noexcept {
        return lock.lock_;
    }
    bool take(detail::acquire_options); ///< false: the lock was busy until the timeout expired

    using shared_descriptor = std::shared_ptr<sync::lock_descriptor>;
    static void start_try_lock(shared_descriptor, detail::acquire_options,
                               detail::maybe_lease_handler);

private:
    template <typename Token>
    auto initiate_lock(detail::acquire_options how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [lock = lock_](auto handler, detail::acquire_options wanted) {
                start_lock(lock, std::move(wanted), std::move(handler));
            },
            token, std::move(how));
    }
    template <typename Token>
    auto initiate_try_lock(detail::acquire_options how, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [lock = lock_](auto handler, detail::acquire_options wanted) {
                start_try_lock(lock, std::move(wanted), std::move(handler));
            },
            token, std::move(how));
    }

    static void start_lock(shared_descriptor, detail::acquire_options, detail::lease_handler);
    static void start_share(shared_descriptor, std::shared_ptr<sync::lock_handle>,
                            detail::lease_handler);
    static void start_is_locked(shared_descriptor,
                                asio::any_completion_handler<void(error_code, bool)>);
    static void start_remaining_lease(
        shared_descriptor, asio::any_completion_handler<void(error_code, std::optional<duration>)>);
    static void start_force_unlock(shared_descriptor,
                                   asio::any_completion_handler<void(error_code, bool)>);

    std::shared_ptr<sync::lock_descriptor> lock_;
};

} // namespace holdfast
