// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// Options of `counting_semaphore`.
///
///     holdfast::counting_semaphore seats{client, "seats", {.most = 20}};
struct semaphore_options {
    /// Maximum number of permits. `release()` and `add_permits()` fail with `refused`, and change
    /// nothing, if the number of permits would then exceed this maximum. With 0, the only limit is
    /// `max()`. The maximum is part of this object, not of the store, so give the same limit to all
    /// objects.
    std::int64_t most = 0;
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Semaphore that works across processes, with the functions of `std::counting_semaphore`. It is
/// compatible with Redisson's RSemaphore. The store keeps the number of permits under the
/// semaphore's name. If nothing is stored there, the semaphore has no permits.
///
///     counting_semaphore seats{client, "seats"};
///     seats.try_set_permits(20);    // once; the first process wins
///     seats.acquire();
///     …
///     seats.release();
///
/// No process owns a permit: any process may release permits, and the permits of a process that
/// died are lost. If permits must not be lost in this way, use a lock or a `leased_semaphore`.
///
/// Waiting callers of one client are served in order of arrival, so a caller that needs many
/// permits is never starved by callers that need few. Between processes there is no order. If a
/// release has exactly as many permits as the next callers of the same client need, these callers
/// get them without a request to the store. Such a hand-over is limited by `options::hand_off`.
///
/// Errors, cancellation, at-most-once changes and thread safety: see `basic_counter`. An amount
/// below zero or above `max()` fails with `invalid_argument`. A call for zero permits succeeds at
/// once without a request. If the name holds a value that is not a number, the functions fail with
/// `refused`. Wire format: docs/protocol/semaphore.md.
class HOLDFAST_EXPORT counting_semaphore : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// Creates the semaphore object; sends nothing. Throws `errc::invalid_argument` if the name or
    /// the limit is not allowed, or if the store does not support semaphores.
    counting_semaphore(client& home, lock_name name, semaphore_options how = {});

    /// Takes the permits, and waits if too few are free. When the call returns, the caller has the
    /// permits. Throws if it cannot get the permits.
    void acquire(std::int64_t permits = 1, std::stop_token cancel = {}) {
        (void)take({.amount = permits, .cancel = std::move(cancel)});
    }
    /// Tries once to take the permits. Returns false if there are not enough permits, or if calls
    /// of this client already wait for permits.
    [[nodiscard]] bool try_acquire(std::int64_t permits = 1) {
        return take({.amount = permits, .timeout = duration::zero()});
    }
    /// Tries to take the permits until `timeout` has passed; makes at least one attempt. If the
    /// result is false, the call has taken no permits.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_acquire_for(length<Rep, Period> timeout, std::int64_t permits = 1,
                                       std::stop_token cancel = {}) {
        return take({.amount = permits,
                     .timeout = detail::saturate(timeout, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_acquire_until(std::chrono::time_point<Clock, Duration> deadline,
                                         std::int64_t permits = 1, std::stop_token cancel = {}) {
        return try_acquire_for(detail::timeout_until(deadline), permits, std::move(cancel));
    }

    /// Adds permits and notifies waiters. Creates the semaphore if it does not exist.
    void release(std::int64_t permits = 1);
    /// Adds permits if the semaphore exists. Returns false, and does nothing, if the semaphore does
    /// not exist. For compatibility with Redisson, also returns false for zero permits.
    bool release_if_exists(std::int64_t permits = 1);

    /// Creates the semaphore with this number of permits. Returns false, and changes nothing, if
    /// the semaphore exists already.
    bool try_set_permits(std::int64_t permits);
    /// Creates the semaphore as try_set_permits(permits) does. In addition, the store deletes the
    /// semaphore after the time `kept`, even if it is in use then.
    bool try_set_permits(std::int64_t permits, duration kept);
    /// Adds permits. A negative number removes permits; the number of permits may then be negative
    /// for a while.
    void add_permits(std::int64_t permits);
    /// Takes all permits that are free, and returns their number.
    std::int64_t drain_permits();
    /// Returns the number of permits. The number may be out of date when the call returns. A
    /// negative number -n means that n permits must be released before the number is zero.
    [[nodiscard]] std::int64_t available_permits() const { return value(); }

    template <asio::completion_token_for<void(error_code)> Token>
    auto async_acquire(std::int64_t permits, Token&& token) {
        return initiate_take(permits, std::forward<Token>(token));
    }
    // The async_try functions complete with false if too few permits became free before the
    // timeout.
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_acquire(std::int64_t permits, Token&& token) {
        return initiate_try(permits, duration::zero(), std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_acquire_for(length<Rep, Period> timeout, std::int64_t permits, Token&& token) {
        return initiate_try(permits, detail::saturate(timeout, detail::rounding::up),
                            std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_release(std::int64_t permits, Token&& token) {
        return initiate_change(counter_verb::add, permits, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_release_if_exists(std::int64_t permits, Token&& token) {
        return initiate_flag(counter_verb::add_if_there, permits, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_set_permits(std::int64_t permits, Token&& token) {
        return initiate_flag(counter_verb::set_new, permits, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_set_permits(std::int64_t permits, duration kept, Token&& token) {
        return initiate_flag(counter_verb::set_new, permits, kept, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_add_permits(std::int64_t permits, Token&& token) {
        const bool fewer = permits < 0 && permits >= -max();
        return initiate_change(fewer ? counter_verb::take_back : counter_verb::add,
                               fewer ? -permits : permits, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_drain_permits(Token&& token) {
        return initiate_number(counter_verb::drain, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_available_permits(Token&& token) const {
        return initiate_value(std::forward<Token>(token));
    }
};

} // namespace holdfast
