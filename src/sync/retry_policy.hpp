// SPDX-License-Identifier: Apache-2.0
// Rules for retries: how long a call keeps trying while the store does not reply, when it retries,
// and how many requests a waiter may send.
#pragma once

#include "sync/engine.hpp"
#include "sync/lease_validity.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast::sync {

/// Returns whether a retry may help, because the store did not reply or the outcome is unknown.
inline bool is_retryable(const error_code& ec) {
    return ec == errc::unreachable || ec == errc::outcome_unknown;
}

/// Returns whether the store has certainly not executed the failed request, so that a retry does no
/// harm and may help.
inline bool is_undone(const error_code& ec) {
    return ec == errc::unreachable;
}

/// Returns whether the server refused the content of the request. Returns false if the refusal has
/// another reason: failed authentication, an untrusted server, or lack of memory.
inline bool is_refusal(const error_code& ec) {
    return ec == errc::refused && ec != store_errc::not_authenticated &&
           ec != store_errc::untrusted && ec != store_errc::out_of_memory;
}

/// Pauses between two attempts. Each pause is about twice as long as the previous pause, with
/// jitter.
class pauses {
public:
    static constexpr backoff after_silence{duration{20}, duration{1000}};
    /// Pause after a refusal. The pause is long but finite, because an operator may grant a missing
    /// permission later.
    static constexpr duration after_a_no{5000};

    explicit pauses(engine& home, backoff how = after_silence)
        : home_{home}
        , how_{how} {}
    void reset() { next_ = how_.first; }
    duration next() {
        const duration pause = next_;
        next_ = std::min(next_ * 2, how_.longest);
        return jittered(pause);
    }
    /// Returns the pause before the next attempt, for an operation that is repeated after any
    /// error.
    duration next(const error_code& why) { return is_refusal(why) ? jittered(after_a_no) : next(); }

private:
    duration jittered(duration pause) const { return pause - home_.jitter(pause / 2); }

    engine& home_;
    const backoff how_;
    duration next_ = how_.first;
};

/// Returns for how long the process was certainly paused between `begin` and `end`. Without a
/// pause, the time between `begin` and `end` would have been at most `longest`.
inline duration pause_of_process(time_point begin, time_point end, duration longest) {
    return std::max(end - begin, longest) - longest; // `longest` may be duration::max()
}

class retry_policy {
public:
    explicit retry_policy(engine& home)
        : retry_policy{home, home.bounds().time_limit} {}
    /// Creates the policy for attempts that take at most `longest`. An attempt that takes longer
    /// includes a pause of the process. With `duration::max()`, an attempt may take any time.
    retry_policy(engine& home, duration longest)
        : home_{home}
        , longest_{longest}
        , pause_{home} {}

    void over() {
        last_ = nullptr;
        pause_.reset();
    }

    /// Returns when to retry a failed request that was sent at `sent_at`. Call it in a catch block.
    /// Throws the error again if a retry cannot help, or if the outage has lasted for
    /// `unavailable_timeout`. The time of a pause of the process does not count.
    time_point next_try(const boost::system::system_error& e, time_point sent_at) {
        const duration before =
            last_ ? pause_of_process(again_at_, sent_at, longest_) : duration::zero();
        if (!last_)
            since_ = sent_at;
        since_ = later(since_, before + pause_of_process(sent_at, home_.now(), longest_));
        if (!is_retryable(e.code()) || home_.now() >= later(since_, home_.unavailable_timeout()))
            throw;
        last_ = std::current_exception();
        again_at_ = later(home_.now(), pause_.next());
        return again_at_;
    }

    void rethrow_if_unanswered() const {
        if (last_)
            std::rethrow_exception(last_);
    }

private:
    engine& home_;
    const duration longest_;
    pauses pause_;
    time_point since_{};
    time_point again_at_{};
    std::exception_ptr last_;
};

/// Calls `query` and returns its result. With Sentinels or a cluster, repeats the query while no
/// server can be reached, for at most `unavailable_timeout`. With a single server, throws the first
/// error, so that the caller learns of it at once. `may_repeat` decides, for each error, whether
/// the query may be repeated.
template <typename Query>
std::invoke_result_t<Query&>
outlast_failover(std::shared_ptr<engine> home, Query query,
                 bool (*may_repeat)(const error_code&) = is_retryable) {
    retry_policy trouble{*home};
    for (;;) {
        const time_point sent_at = home->now();
        time_point again_at{};
        try {
            co_return co_await query();
        } catch (const boost::system::system_error& e) {
            if (!home->expects_failover() || home->stopped() || !may_repeat(e.code()))
                throw;
            again_at = trouble.next_try(e, sent_at);
        }
        co_await home->nap(again_at);
        if (home->stopped())
            throw boost::system::system_error{make_error_code(errc::closed)};
    }
}

// Limit of how often one waiter sends requests. The limit is needed because any program may publish
// on the channel of a lock: without the limit, a flood of notifications would cause a flood of
// requests.

class attempt_pacer {
public:
    /// Mean time between two requests during a flood of notifications.
    static constexpr duration between_looks{5};

    /// Number of requests that a waiter may send without delay after a quiet time. Most waits need
    /// fewer requests than this.
    static constexpr int prompt_looks = 4;

    /// Returns the earliest time at which the caller may send a request that it wants to send at
    /// `now`.
    time_point next(time_point now) {
        const time_point at = std::max(now, paid_until_ - (prompt_looks - 1) * between_looks);
        paid_until_ = later(std::max(paid_until_, now), between_looks);
        return at;
    }

private:
    time_point paid_until_{}; // each request moves this time later; it may lie in the future
};

} // namespace holdfast::sync
