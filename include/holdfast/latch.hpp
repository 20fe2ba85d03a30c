// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_counter.hpp>

namespace holdfast {

/// For `latch`.
struct latch_options {
    /// Instead of the client's (options.hpp), for what changes the count. Waiting changes nothing.
    std::optional<unsigned> required_replicas{};
};

/// `std::latch` across processes: Redisson's count-down latch. It is open when its count has come
/// down to zero; and one that nobody has set is open, too. It can be set anew when it is open.
///
///     latch ready{client, "workers-ready"};
///     ready.try_set_count(3);     // once
///     ready.arrive_and_wait();    // in each of three processes
///
/// Who waits when it opens is let through; so is who waits when it is erased. If it is set anew at
/// once, a waiter that is told too late may wait for the next opening: set another name.
///
/// Errors, cancellation, at most once, threads: `basic_counter`. If the name holds something that
/// is no number, the verbs fail with `refused`. Wire format: docs/protocol/latch.md.
class HOLDFAST_EXPORT latch : public basic_counter {
    template <typename Rep, typename Period>
    using length = std::chrono::duration<Rep, Period>;

public:
    /// No I/O. Throws `errc::invalid_argument` if the name is not allowed, or if the store has no
    /// latches.
    latch(client& home, lock_name name, latch_options how = {});

    /// Closes it, until it was counted down so often: 1 to `max()`. False: it is closed already,
    /// and is as it was.
    bool try_set_count(std::int64_t count);
    /// Zero: it is open. The answer may be old when it arrives.
    [[nodiscard]] std::int64_t count() const { return value(); }
    /// By 1 to `max()`, down to zero at most. It opens at zero, and wakes who waits.
    void count_down(std::int64_t by = 1);
    /// `count_down()`, and then `wait()`.
    void arrive_and_wait(std::int64_t by = 1, std::stop_token cancel = {}) {
        count_down(by);
        wait(std::move(cancel));
    }

    /// Whether it is open now.
    [[nodiscard]] bool try_wait() const { return take({.patience = duration::zero()}); }
    /// Returns when it is open, or throws.
    void wait(std::stop_token cancel = {}) const { (void)take({.cancel = std::move(cancel)}); }
    /// False: it was closed until the patience was over.
    template <typename Rep, typename Period>
    [[nodiscard]] bool wait_for(length<Rep, Period> patience, std::stop_token cancel = {}) const {
        return take({.patience = detail::saturate(patience, detail::rounding::up),
                     .cancel = std::move(cancel)});
    }
    template <typename Clock, typename Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> deadline,
                                  std::stop_token cancel = {}) const {
        return wait_for(detail::patience_until(deadline), std::move(cancel));
    }

    template <asio::completion_token_for<void(error_code)> Token>
    auto async_wait(Token&& token) const {
        return initiate_take(0, std::forward<Token>(token));
    }
    /// Completes with false if it was closed until the patience was over.
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, bool)> Token>
    auto async_wait_for(length<Rep, Period> patience, Token&& token) const {
        return initiate_try(0, detail::saturate(patience, detail::rounding::up),
                            std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_count_down(std::int64_t by, Token&& token) {
        return initiate_change(counter_verb::count_down, by, std::forward<Token>(token));
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
