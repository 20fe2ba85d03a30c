// SPDX-License-Identifier: Apache-2.0
// How one client waits for one lock: ask; listen, ask again; sleep; ask.
#include "store/redis/place.hpp"

#include "store/redis/names.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// How long a look waits until the server confirms that it will tell us of releases.
constexpr duration confirmation_patience = std::chrono::seconds{1};

/// A waiter that cannot be told of releases asks at least this often.
constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// A key goes in the millisecond after its last, and both clocks are cut to milliseconds: who asks
/// after exactly the time that was left asks too early, and once more.
constexpr duration expiry_rounding{2};

/// Waiters that slept the same time would all ask at the same moment: up to a fifth less.
duration jittered(duration bound, std::uint64_t random) {
    const auto fifth = static_cast<std::uint64_t>(bound.count()) / 5;
    return bound - duration{static_cast<duration::rep>(random % (fifth + 1))};
}

/// Errors after which the request has not been and will not be carried out.
bool was_not_carried_out(const error_code& failure) {
    return failure == errc::unreachable || failure == errc::refused ||
           failure == errc::overloaded || failure == errc::closed;
}

} // namespace

mutex_place::mutex_place(node& server, const store_context& context, ask want, alarm& wake)
    : server_{server}
    , context_{context}
    , want_{std::move(want)}
    , wake_{wake} {}

asio::awaitable<answer> mutex_place::look() {
    const bool first = !std::exchange(looked_, true);
    if (found_busy_)
        co_await listen();
    for (bool late_before = false;; late_before = true) {
        const time_point asked_at = context_.time.now();
        const limit until = next_limit(first);
        if (until.is_callers && until.at <= context_.time.now())
            co_return answer{}; // even a server that tells no time must not grant this one

        const attempt got = co_await attempt_until(until.at);
        if (got.said == verdict::granted) {
            granted_ = true;
            co_return answer{.granted = true, .term = want_.lease_time};
        }
        if (got.said == verdict::busy)
            co_return busy(got);
        // Slow: the request spent its time on the way. Quick: what we knew of the server's clock
        // was wrong, and this answer has told us anew; so once more, and not for ever.
        const bool slow = context_.time.now() - asked_at >= server_.command_timeout() / 2;
        if (until.is_callers && (slow || late_before))
            co_return answer{.term = std::max(until.at - context_.time.now(), duration::zero())};
        if (slow)
            throw boost::system::system_error{make_error_code(errc::unreachable)};
        if (late_before)
            throw boost::system::system_error{make_error_code(errc::clock_unstable)};
    }
}

mutex_place::limit mutex_place::next_limit(bool first) const {
    const time_point whole = context_.time.now() + server_.command_timeout();
    if (first || whole <= want_.give_up_at)
        return {whole, false};
    return {want_.give_up_at, true};
}

asio::awaitable<attempt> mutex_place::attempt_until(time_point deadline) {
    const time_point settled_before = settled_at_;
    const time_point unanswered_before = unanswered_until_;
    settled_at_ = std::max(settled_at_, deadline);
    unanswered_until_ = std::max(unanswered_until_, deadline);
    attempt got;
    try {
        got = co_await lock_mutex(server_, want_, server_deadline{deadline});
    } catch (const boost::system::system_error& failure) {
        if (was_not_carried_out(failure.code())) {
            settled_at_ = settled_before;
            unanswered_until_ = unanswered_before;
        }
        throw;
    }
    learn_clock(got);
    // Says nothing of an earlier request that is still on its way and in time; and "late" is said
    // before the lock is looked at.
    const bool tells_all = got.said != verdict::late && got.sent_at > unanswered_before;
    unanswered_until_ = tells_all ? none : unanswered_before;
    co_return got;
}

void mutex_place::learn_clock(const attempt& got) {
    if (got.server_now == std::chrono::microseconds::zero())
        return;
    if (got.said == verdict::late)
        server_.server_clock().forget();
    server_.server_clock().learn(got.sent_at, got.received_at, got.server_now);
}

// Confirmed first, asked afterwards: a release in between is seen by the one or the other.
asio::awaitable<void> mutex_place::listen() {
    const time_point now = context_.time.now();
    time_point patient_until = now;
    if (!ear_) {
        ear_ = server_.hear(lock_channel(want_.name), wake_);
        patient_until = std::min(now + confirmation_patience, std::max(now, want_.give_up_at));
    }
    listening_ = co_await ear_->confirmed(patient_until);
}

answer mutex_place::busy(const attempt& got) {
    if (!std::exchange(found_busy_, true))
        return {}; // nobody listens yet: look again at once
    const duration bound =
        listening_ ? context_.poll_bound : std::min(context_.poll_bound, unheard_poll_bound);
    duration term = jittered(bound, context_.random());
    if (got.left) // a dead holder releases nothing: never sleep past its end
        term = std::min(term, *got.left + expiry_rounding);
    return {.term = term};
}

asio::awaitable<void> mutex_place::leave() {
    ear_.reset();
    if (!granted_ && !uncertain())
        co_return;
    co_await release_mutex(server_, want_);
    granted_ = false;
}

} // namespace holdfast::redis
