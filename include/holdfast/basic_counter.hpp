// SPDX-License-Identifier: Apache-2.0
// Functions that all counters share. Do not include this header; include the header of the counter
// that you want: counting_semaphore.hpp, latch.hpp, leased_semaphore.hpp, rate_limiter.hpp.
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
class counter_descriptor;
} // namespace sync

namespace detail {
/// Settings that the constructor of a counter type (for example `latch`) passes to `basic_counter`.
struct counter_setup {
    counter_kind kind;
    std::int64_t most = 0;              ///< maximum number of free permits; 0: no limit
    std::optional<unsigned> replicas{}; ///< number of required replicas; empty: the client's value
};
/// Options of a call that takes `amount` from a counter. If `timeout` is zero or less, the call
/// makes one attempt and does not wait.
struct counter_options {
    std::int64_t amount = 0;
    duration timeout = duration::max();
    std::stop_token cancel{};
};
using done_handler = asio::any_completion_handler<void(error_code)>;
using flag_handler = asio::any_completion_handler<void(error_code, bool)>;
using number_handler = asio::any_completion_handler<void(error_code, std::int64_t)>;
} // namespace detail

/// Base class of the counters. A counter is a number in the store that several processes change and
/// wait for. No process owns the counter: permits that a process took are not given back when the
/// process dies (except with `leased_semaphore`).
///
/// *At most once.* A change of a counter is executed at most once, even if the client repeats its
/// request. A call repeats its request for at most `options::unavailable_timeout`, always with the
/// same request number, which the store remembers. After that time the call fails with
/// `unreachable` if nothing was done, or with `outcome_unknown` if the client does not know whether
/// the change was executed. The client sends nothing more for a call that failed; the caller must
/// decide how to continue. With `required_replicas`, a change succeeds after this number of
/// replicas has confirmed it. If fewer replicas confirm the change, the call fails with
/// `outcome_unknown` (`not_replicated`).
///
/// *Blocking functions* throw `boost::system::system_error` with `unreachable`, `outcome_unknown`,
/// `refused`, `closed`, `forked`, `overloaded`, `would_deadlock` (the call runs on the client's
/// executor), `invalid_argument` (the amount is not allowed) or `operation_aborted` (the stop token
/// requested a stop).
///
/// If no thread runs the client's executor, a call returns two seconds after its timeout. A call
/// that never waits for other clients, for example `erase()`, has no timeout. It returns two
/// seconds after its start. The error code is `unreachable` if the call had not begun on the
/// executor, otherwise `outcome_unknown`.
///
/// *Asynchronous functions* complete with the same codes. Functions that wait can be cancelled at
/// any time. A cancelled function completes at once with `operation_aborted`, and the client gives
/// back permits that it may have taken, in the background. Functions that do not wait cannot be
/// cancelled.
///
/// Thread safety: any thread may call every member.
class HOLDFAST_EXPORT basic_counter {
public:
    basic_counter(const basic_counter&) = delete;
    basic_counter& operator=(const basic_counter&) = delete;

    /// Returns the greatest value that a counter can have: 2^31 - 1, as in Redisson.
    static constexpr std::int64_t max() noexcept { return counted_max; }

    /// Deletes the counter. Returns false if the counter did not exist.
    bool erase() const;
    template <asio::completion_token_for<void(error_code, bool)> Token>
    auto async_erase(Token&& token) const {
        return initiate_flag(counter_verb::erase, 0, {}, std::forward<Token>(token));
    }

protected:
    using shared_counter = std::shared_ptr<const sync::counter_descriptor>;

    basic_counter(client&, lock_name, const detail::counter_setup&);
    ~basic_counter();

    const shared_counter& counter() const noexcept { return counter_; }

    /// Takes the requested amount from the counter. Waits if the counter is too small. Returns
    /// false if the counter is still too small when the timeout has passed.
    bool take(detail::counter_options) const;
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
    auto initiate_try(std::int64_t amount, duration timeout, Token&& token) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            [of = counter_, amount, timeout](auto handler) {
                start_try(of, amount, timeout, std::move(handler));
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
