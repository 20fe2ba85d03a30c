// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// For `counting_semaphore`.
///
///     holdfast::counting_semaphore seats{client, "seats", {.most = 20}};
struct semaphore_options {
    /// `release()` and `add_permits()` are `refused`, and nothing is done, if there were more
    /// permits than that afterwards. 0: no bound but `max()`. It is this object's; give all the
    /// same.
    std::int64_t most = 0;
    std::optional<unsigned> required_replicas{}; ///< instead of the client's (options.hpp)
};

/// `std::counting_semaphore` across processes: Redisson's semaphore. There are as many permits as
/// the store's number of that name says; none if there is no such name.
///
///     counting_semaphore seats{client, "seats"};
///     seats.try_set_permits(20);    // once, whoever comes first
///     seats.acquire();
///     …
///     seats.release();
///
/// Nobody owns a permit: any process may release, and the permits of a process that died are lost.
/// Use a lock where that matters. Callers of one client are served in order of arrival, so one that
/// wants many permits is not overtaken for ever by those that want few; between processes there is
/// no order. A release of just as many permits as the next callers of the same client wait for
/// goes to them without a word to the store, within the bounds of `options::hand_off`.
///
/// Errors, cancellation, at most once, threads: `basic_counter`. An amount below zero or above
/// `max()` is an `invalid_argument`; zero permits are had at once, without a message. If the name
/// holds something that is no number, the verbs fail with `refused`. Wire format:
/// docs/protocol/semaphore.md.
class HOLDFAST_EXPORT counting_semaphore : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// No I/O. Throws `errc::invalid_argument` if the name or the bound is not allowed, or if the
    /// store has no semaphores.
    counting_semaphore(client& home, lock_name name, semaphore_options how = {});

    /// Returns with the permits taken, or throws.
    void acquire(std::int64_t permits = 1, std::stop_token cancel = {}) {
        (void)take({.amount = permits, .cancel = std::move(cancel)});
    }
    /// One attempt. False: there are not enough (or callers of this client wait for some already).
    [[nodiscard]] bool try_acquire(std::int64_t permits = 1) {
        return take({.amount = permits, .patience = duration::zero()});
    }
    /// At least one attempt. False: the patience was over, and nothing is taken.
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

    /// Makes that many permits more, and wakes waiters. It makes the semaphore if there is none.
    void release(std::int64_t permits = 1);
    /// False: there is no such semaphore, and nothing was done. So it is for zero permits, as in
    /// Redisson.
    bool release_if_exists(std::int64_t permits = 1);

    /// Makes a semaphore of so many permits. False: there is one already, and it is as it was.
    bool try_set_permits(std::int64_t permits);
    /// The same of one that goes away after that time, whatever is done with it.
    bool try_set_permits(std::int64_t permits, duration kept);
    /// So many more; below zero: so many fewer, and then there may be less than none for a while.
    void add_permits(std::int64_t permits);
    /// Takes all permits that there are; returns how many.
    std::int64_t drain_permits();
    /// The answer may be old when it arrives. Below zero: so many are missing before there is one.
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
