// SPDX-License-Identifier: Apache-2.0
// What counters share. Include the header of the one that you want instead:
// counting_semaphore.hpp, latch.hpp, leased_semaphore.hpp, rate_limiter.hpp.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/counters.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace holdfast {

namespace sync {
class counter_subject;
} // namespace sync

namespace detail {
/// What the constructor of a counter's type says of it.
struct counter_setup {
    counter_kind kind;
    std::int64_t most = 0;              ///< so many permits there may be; 0: any number
    std::optional<unsigned> replicas{}; ///< that are required; empty: as many as the client says
};
/// What is asked of a counter that is to be waited for. A patience of zero or less is one attempt.
struct counter_wish {
    std::int64_t amount = 0;
    duration patience = duration::max();
    std::stop_token cancel{};
};
using done_handler = asio::any_completion_handler<void(error_code)>;
using flag_handler = asio::any_completion_handler<void(error_code, bool)>;
using number_handler = asio::any_completion_handler<void(error_code, std::int64_t)>;
} // namespace detail

/// A number in the store that several processes change and wait for. Nobody holds it: what a
/// process took is not given back when the process dies (but for `leased_semaphore`).
///
/// *At most once.* Whatever changes a counter is carried out at most once, however often it had to
/// be sent. A verb repeats its request, under one number that the store remembers, for
/// `options::unavailable_patience` at most. Then it fails: with `unreachable` if nothing was done,
/// with `outcome_unknown` if that is not known; only the caller can decide what to do then. Nothing
/// is sent again behind it. With `required_replicas` a change counts when so many replicas have
/// confirmed it; one that stays short of that fails with `outcome_unknown` (`not_replicated`).
///
/// *Blocking verbs* throw `boost::system::system_error`: `unreachable`, `outcome_unknown`,
/// `refused`, `closed`, `forked`, `overloaded`, `would_deadlock` (called on the client's executor),
/// `invalid_argument` (an amount), `operation_aborted` (the stop token). If nobody runs the
/// client's executor, a verb returns two seconds after its patience (one that does not wait for
/// others: after two seconds), with `unreachable` if it had not begun, else with `outcome_unknown`.
/// *Asynchronous verbs* complete with the same codes. Those that wait can be cancelled at any
/// point: they complete at once with `operation_aborted`, and what may have been taken is given
/// back in the background. The others cannot be cancelled.
///
/// Thread safety: every member may be called from any thread.
class HOLDFAST_EXPORT basic_counter {
public:
    basic_counter(const basic_counter&) = delete;
    basic_counter& operator=(const basic_counter&) = delete;

    /// The most that Redisson counts to, and so the most that there may be: 2^31 - 1.
    static constexpr std::int64_t max() noexcept { return counted_max; }

    /// Deletes it. False: there was none.
    bool erase() const;
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_erase(Token&& token) const {
        return initiate_flag(counter_verb::erase, 0, {}, std::forward<Token>(token));
    }

protected:
    using shared_counter = std::shared_ptr<const sync::counter_subject>;

    basic_counter(client&, lock_name, const detail::counter_setup&);
    ~basic_counter();

    const shared_counter& counter() const noexcept { return counter_; }

    /// False: it was not to be had until the patience was over.
    bool take(detail::counter_wish) const;
    counter_answer change(counter_verb, std::int64_t amount = 0,
                          std::optional<duration> kept = {}) const;
    std::int64_t value() const;

    template <typename Token>
    auto initiate_take(std::int64_t amount, Token&& token) const {
        return asio::async_initiate<Token, void(error_code)>(
            [of = counter_, amount](auto handler) { start_take(of, amount, std::move(handler)); },
            token);
    }
    template <typename Token>
    auto initiate_try(std::int64_t amount, duration patience, Token&& token) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter_, amount, patience](auto handler) {
                start_try(of, amount, patience, std::move(handler));
            },
            token);
    }
    template <typename Token>
    auto initiate_change(counter_verb verb, std::int64_t amount, Token&& token) const {
        return asio::async_initiate<Token, void(error_code)>(
            [of = counter_, verb, amount](auto handler) {
                start_change(of, verb, amount, std::move(handler));
            },
            token);
    }
    template <typename Token>
    auto initiate_flag(counter_verb verb, std::int64_t amount, std::optional<duration> kept,
                       Token&& token) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter_, verb, amount, kept](auto handler) {
                start_flag(of, verb, amount, kept, std::move(handler));
            },
            token);
    }
    template <typename Token>
    auto initiate_number(counter_verb verb, Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::int64_t)>(
            [of = counter_, verb](auto handler) { start_number(of, verb, std::move(handler)); },
            token);
    }
    template <typename Token>
    auto initiate_value(Token&& token) const {
        return asio::async_initiate<Token, void(error_code, std::int64_t)>(
            [of = counter_](auto handler) { start_value(of, std::move(handler)); }, token);
    }

private:
    static void start_take(shared_counter, std::int64_t amount, detail::done_handler);
    static void start_try(shared_counter, std::int64_t amount, duration, detail::flag_handler);
    static void start_change(shared_counter, counter_verb, std::int64_t, detail::done_handler);
    static void start_flag(shared_counter, counter_verb, std::int64_t, std::optional<duration> kept,
                           detail::flag_handler);
    static void start_number(shared_counter, counter_verb, detail::number_handler);
    static void start_value(shared_counter, detail::number_handler);

    shared_counter counter_;
};

} // namespace holdfast
