// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// For `rate_limiter`.
struct limiter_options {
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// At most so many in any interval of such a length, across processes: Redisson's rate limiter.
///
///     rate_limiter mails{client, "mails"};
///     mails.try_set_rate({.permits = 100, .per = 1min});    // once, whoever comes first
///     mails.acquire();                                      // may wait
///     send(mail);
///
/// The interval slides: each draw counts for `rate::per` from its moment on, by the server's clock
/// alone. So in no interval of that length more is drawn than `rate::permits`, unless somebody gave
/// some back (`release()`) or set the rate anew, which forgets what was drawn. A server clock that
/// is set forward lets more through, once; one that is set back makes callers wait longer.
///
/// Nobody owns what was drawn, and it comes back by itself. Callers of one client are served in
/// order of arrival; between processes there is no order. Who waits sleeps for as long as the
/// server said, and asks at least every `options::poll_bound`, since the rate may be raised
/// meanwhile.
///
/// With `rate::scope_of::per_client`, each `client` object has the whole rate for itself.
///
/// *After success* the permits are drawn, once, however often the request had to be sent. *After
/// false, or a cancellation,* none are: what may have been drawn is given back, in the background.
/// *After `outcome_unknown` or `unreachable`* likewise. What cannot be given back, since the store
/// stays out of reach, counts for `rate::per`, and no longer. A request that is repeated after more
/// than `rate::per` may count in both intervals: never too little is counted.
///
/// Errors, cancellation, at most once, threads: `basic_counter`. And these: a number of permits
/// below zero or above `max()`, or a rate that cannot be, is an `invalid_argument`, before anything
/// is sent; zero permits are had at once, without a message. Of a limiter that nobody has set, and
/// for more permits at once than the rate has, the verbs fail with `refused`, and `what()` says
/// which of these. So they do if the name holds something else. Wire format: docs/protocol/rate.md.
class HOLDFAST_EXPORT rate_limiter : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// No I/O. Throws `errc::invalid_argument` if the name is not allowed, or if the store has no
    /// rate limiters.
    rate_limiter(client& home, lock_name name, limiter_options how = {});

    /// Returns with the permits drawn, or throws.
    void acquire(std::int64_t permits = 1, std::stop_token cancel = {}) {
        (void)take({.amount = permits, .cancel = std::move(cancel)});
    }
    /// One attempt. False: there are not enough now (or callers of this client wait for some).
    [[nodiscard]] bool try_acquire(std::int64_t permits = 1) {
        return take({.amount = permits, .patience = duration::zero()});
    }
    /// At least one attempt. False: the patience was over, and nothing is drawn.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_acquire_for(length<Rep, Period> patience, std::int64_t permits = 1,
                                       std::stop_token cancel = {}) {
        return take({.amount = permits,
                     .patience = detail::saturate(patience, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_acquire_until(std::chrono::time_point<Clock, Duration> deadline,
                                         std::int64_t permits = 1, std::stop_token cancel = {}) {
        return try_acquire_for(detail::patience_until(deadline), permits, std::move(cancel));
    }

    /// Sets the rate. False: it is set already, and is as it was. Throws `invalid_argument` for
    /// less than one permit or more than `max()`, for an interval below 1 ms or above ten years,
    /// and for one that is kept for less than the interval.
    bool try_set_rate(rate);
    /// Sets the rate, whether there is one or not, and forgets what was drawn: by all, or by this
    /// client. What others drew for themselves is counted on.
    void set_rate(rate);
    /// Nothing: it is not set. The answer may be old when it arrives.
    [[nodiscard]] std::optional<rate> current_rate() const;

    /// Gives back so many, whoever drew them; those that were drawn last are free again. Never more
    /// are free than the rate.
    void release(std::int64_t permits = 1);
    /// So many can be drawn now; none of a limiter that is not set. It may be old when it arrives.
    [[nodiscard]] std::int64_t available_permits() const { return value(); }

    template <asio::completion_token_for<void(error_code)> Token>
    auto async_acquire(std::int64_t permits, Token&& token) {
        return initiate_take(permits, std::forward<Token>(token));
    }
    // They complete with false if there were not enough until the patience was over.
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_acquire(std::int64_t permits, Token&& token) {
        return initiate_try(permits, duration::zero(), std::forward<Token>(token));
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_acquire_for(length<Rep, Period> patience, std::int64_t permits, Token&& token) {
        return initiate_try(permits, detail::saturate(patience, detail::rounding::up),
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
    auto async_set_rate(rate to, Token&& token) { ///< completes with true
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
