// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// Options of `rate_limiter`.
struct limiter_options {
    std::optional<unsigned> required_replicas{}; ///< overrides the client's value (options.hpp)
};

/// Rate limiter that works across processes. At most `rate::permits` permits are drawn in any
/// interval of length `rate::per`. It is compatible with Redisson's RRateLimiter.
///
///     rate_limiter mails{client, "mails"};
///     mails.try_set_rate({.permits = 100, .per = 1min});    // once; the first process wins
///     mails.acquire();                                      // may wait
///     send(mail);
///
/// *Interval.* The interval slides: each draw counts for `rate::per` from its own time on, on the
/// server's clock only. So no interval of that length has more draws than `rate::permits`. There
/// are two exceptions. A call of `release()` gives permits back, and a call of `set_rate()` forgets
/// all draws. In addition, each time the server's clock is set forward, callers can draw more
/// permits than the rate allows. Each time the clock is set back, callers wait longer.
///
/// *Order.* No process owns drawn permits; they become free by themselves. Callers of one client
/// get permits in order of arrival. Between processes there is no order. The server's reply says
/// how long a waiter should sleep. The waiter polls at least every `options::poll_bound`, because
/// the rate may be raised in the meantime.
///
/// With `rate::scope_of::per_client`, each `client` object has the whole rate for itself.
///
/// *After the call.* After success, the permits are drawn exactly once, even if the client repeated
/// the request. After false, a cancellation, `outcome_unknown` or `unreachable`, no permits are
/// drawn; permits that may have been drawn are given back in the background. If they cannot be
/// given back because the store stays unreachable, they count as drawn for `rate::per`, and no
/// longer. If a request is repeated after more than `rate::per`, its permits may be counted twice,
/// in both intervals. So in these cases the limiter allows too few permits, and never too many.
///
/// *Errors*, cancellation, at-most-once changes and thread safety: see `basic_counter`. A number of
/// permits below zero or above `max()`, or an invalid rate, fails with `invalid_argument` before
/// anything is sent. A call for zero permits succeeds at once without a request. The functions fail
/// with `refused` in three cases: the limiter was never set, one call requests more permits than
/// the rate has, or the value under the name is not a rate limiter. `what()` gives the reason. Wire
/// format: docs/protocol/rate.md.
class HOLDFAST_EXPORT rate_limiter : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// Creates the limiter object; sends nothing. Throws `errc::invalid_argument` if the name is
    /// not allowed, or if the store does not support rate limiters.
    rate_limiter(client& home, lock_name name, limiter_options how = {});

    /// Takes the permits, and waits if the rate does not allow them yet. When the call returns, it
    /// has taken the permits. Throws if it cannot take the permits.
    void acquire(std::int64_t permits = 1, std::stop_token cancel = {}) {
        (void)take({.amount = permits, .cancel = std::move(cancel)});
    }
    /// Tries once to take the permits. Returns false if there are not enough permits now, or if
    /// calls of this client already wait for permits.
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

    /// Sets the rate if no rate is set. Returns false, and changes nothing, if a rate is set
    /// already. Throws `invalid_argument` for less than one permit or more than `max()`, and for an
    /// interval below 1 ms or above ten years. It also throws if `rate::kept` is shorter than the
    /// interval.
    bool try_set_rate(rate);
    /// Sets the rate, even if a rate is set already. All permits that were taken before become
    /// free. With `per_client`, only the permits that this client has taken become free.
    void set_rate(rate);
    /// Returns the rate, or nothing if no rate is set. The result may be out of date when it
    /// arrives.
    [[nodiscard]] std::optional<rate> current_rate() const;

    /// Gives back permits of any client. The permits that were taken last become free first. There
    /// are never more free permits than the rate allows.
    void release(std::int64_t permits = 1);
    /// Returns how many permits can be taken now; zero if the rate is not set. The number may be
    /// out of date when it arrives.
    [[nodiscard]] std::int64_t available_permits() const { return value(); }

    template <asio::completion_token_for<void(error_code)> Token>
    auto async_acquire(std::int64_t permits, Token&& token) {
        return initiate_take(permits, std::forward<Token>(token));
    }
    // The async_try functions complete with false if the permits could not be taken before the
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
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_set_rate(rate to, Token&& token) {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter(), to](auto handler) {
                start_set(of, counter_verb::set_new, to, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_set_rate(rate to, Token&& token) { ///< completes with true after success
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter(), to](auto handler) {
                start_set(of, counter_verb::set, to, std::move(handler));
            },
            token);
    }
    template <asio::completion_token_for<void(error_code, std::optional<rate>)> Token>
    auto async_current_rate(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::optional<rate>)>(
            [of = counter()](auto handler) { start_current(of, std::move(handler)); }, token);
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_release(std::int64_t permits, Token&& token) {
        return initiate_change(counter_verb::add, permits, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_available_permits(Token&& token) const {
        return initiate_value(std::forward<Token>(token));
    }

private:
    using rate_handler = asio::any_completion_handler<void(error_code, std::optional<rate>)>;

    static void start_set(shared_counter, counter_verb, rate, detail::flag_handler);
    static void start_current(shared_counter, rate_handler);
};

} // namespace holdfast
