// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// Options of `latch`.
struct latch_options {
    /// Overrides `options::required_replicas` for calls that change the count. Calls that wait need
    /// no replicas, because they change nothing.
    std::optional<unsigned> required_replicas{};
};

/// Latch that works across processes, with the functions of `std::latch`. It is compatible with
/// Redisson's RCountDownLatch. The latch is open when its count is zero. A latch that was never set
/// is open, too. An open latch can be set again.
///
///     latch ready{client, "workers-ready"};
///     ready.try_set_count(3);     // once
///     ready.arrive_and_wait();    // in each of three processes
///
/// When the latch opens or is erased, all waiters return. But if the latch is set again at once, a
/// waiter that is notified late may miss the opening, and wait until the latch opens again. To
/// avoid this, use a new name instead of setting the latch again.
///
/// Errors, cancellation, at-most-once changes and thread safety: see `basic_counter`. If the name
/// holds a value that is not a number, the functions fail with `refused`. Wire format:
/// docs/protocol/latch.md.
class HOLDFAST_EXPORT latch : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// Creates the latch object; sends nothing. Throws `errc::invalid_argument` if the name is not
    /// allowed, or if the store does not support latches.
    latch(client& home, lock_name name, latch_options how = {});

    /// Closes the latch and sets its count, which must be 1 to `max()`. Returns false, and changes
    /// nothing, if the latch is already closed.
    bool try_set_count(std::int64_t count);
    /// Returns the count; zero means that the latch is open. The count may be out of date when the
    /// call returns.
    [[nodiscard]] std::int64_t count() const { return value(); }
    /// Reduces the count by `by` (1 to `max()`), at most down to zero. At zero the latch opens, and
    /// all waiters are notified. Returns false, and changes nothing, if the latch is open already.
    bool count_down(std::int64_t by = 1);
    /// Reduces the count with `count_down()`, and then waits with `wait()` until the latch is open.
    void arrive_and_wait(std::int64_t by = 1, std::stop_token cancel = {}) {
        count_down(by);
        wait(std::move(cancel));
    }

    /// Returns whether the latch is open now.
    [[nodiscard]] bool try_wait() const { return take({.timeout = duration::zero()}); }
    /// Waits until the latch is open. Throws the errors of `basic_counter`.
    void wait(std::stop_token cancel = {}) const { (void)take({.cancel = std::move(cancel)}); }
    /// Waits until the latch is open, but at most for `timeout`. Returns false if the latch stayed
    /// closed.
    template <typename Rep, typename Period>
    [[nodiscard]] bool wait_for(length<Rep, Period> timeout, std::stop_token cancel = {}) const {
        return take({.timeout = detail::saturate(timeout, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> deadline,
                                  std::stop_token cancel = {}) const {
        return wait_for(detail::timeout_until(deadline), std::move(cancel));
    }

    template <asio::completion_token_for<void(error_code)> Token>
    auto async_wait(Token&& token) const {
        return initiate_take(0, std::forward<Token>(token));
    }
    /// Waits for the open latch as wait_for() does. Completes with false if the latch stayed closed
    /// until the timeout.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, bool)> Token>
    auto async_wait_for(length<Rep, Period> timeout, Token&& token) const {
        return initiate_try(0, detail::saturate(timeout, detail::rounding::up),
                            std::forward<Token>(token));
    }
    /// Reduces the count as count_down() does. Completes with false if the latch was open already.
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_count_down(std::int64_t by, Token&& token) {
        return initiate_flag(counter_verb::count_down, by, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_try_set_count(std::int64_t count, Token&& token) {
        return initiate_flag(counter_verb::set_new, count, {}, std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::int64_t)> Token>
    auto async_count(Token&& token) const {
        return initiate_value(std::forward<Token>(token));
    }
};

} // namespace holdfast
