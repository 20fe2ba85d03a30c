// SPDX-License-Identifier: Apache-2.0
#include "store/remote/attempts.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::remote {
namespace {

/// Returns whether the error means that the server has not executed the request and never will.
bool was_not_carried_out(const error_code& failure) {
    return failure == errc::unreachable || failure == errc::refused ||
           failure == errc::overloaded || failure == errc::closed;
}

void throw_if_hopeless(verdict said) {
    if (said == verdict::conflict)
        throw boost::system::system_error{make_error_code(errc::would_deadlock),
                                          "another reader waits for its own upgrade"};
    if (said == verdict::unfounded)
        throw boost::system::system_error{make_error_code(errc::lease_lost),
                                          "the caller's other hold on this lock is gone"};
}

/// Returns the answer for an attempt that reached its deadline before the client learned whether
/// the lock is free.
answer unanswered(duration look_again_within = {}) {
    answer nothing;
    nothing.term = look_again_within;
    nothing.answered = false;
    return nothing;
}

void throw_if_unconfirmed(const attempt& got) {
    if (!got.unconfirmed.empty())
        throw boost::system::system_error{make_error_code(store_errc::not_replicated),
                                          got.unconfirmed};
}

} // namespace

attempts::attempts(const store_context& context, const ask& want, duration command_timeout,
                   bool is_told)
    : context_{context}
    , want_{want}
    , command_timeout_{command_timeout}
    , is_told_{is_told} {}

asio::awaitable<answer> attempts::look(sender send, duration poll_bound, duration after_the_end) {
    const bool first = !std::exchange(looked_, true);
    std::shared_ptr<runtime::remote_clock> learnt;
    for (int lates = 1;; ++lates) {
        const time_point asked_at = context_.time.now();
        const limit until = next_limit(first);
        if (until.is_callers && until.at <= asked_at)
            // Send nothing, because the deadline has passed. A server without the permission for
            // TIME does not refuse a late request, and could grant the lock.
            co_return unanswered();

        const open_request sent = begin_request(until.at);
        attempt got;
        try {
            got = co_await send(until.at);
        } catch (const boost::system::system_error& failure) {
            note_failure(sent, failure.code());
            throw;
        }
        note_reply(sent, got);
        if (got.said != verdict::late)
            queued_ = got.queued;
        if (got.said == verdict::granted) {
            granted_ = true;
            throw_if_unconfirmed(got);
            co_return granted(got);
        }
        if (got.said == verdict::busy)
            co_return busy(got, poll_bound, after_the_end);
        throw_if_hopeless(got.said);
        // The server refused the request as late. If the reply came slowly, the request was
        // delayed. If the reply came quickly, the estimate of the server's clock was wrong. This
        // reply has corrected the estimate. In both cases send the request again, but only once for
        // each connection and at most `lates_max` times.
        const bool late_before = lates > 1 && (got.clock == learnt || lates >= lates_max);
        learnt = got.clock;
        const bool slow = context_.time.now() - asked_at >= command_timeout_ / 2;
        if (until.is_callers && (slow || late_before))
            co_return unanswered(std::max(until.at - context_.time.now(), duration::zero()));
        if (slow)
            throw boost::system::system_error{make_error_code(errc::unreachable)};
        if (late_before)
            throw boost::system::system_error{make_error_code(errc::clock_unstable)};
    }
}

attempts::limit attempts::next_limit(bool first) const {
    const time_point whole = context_.time.now() + command_timeout_;
    if (first || whole <= want_.give_up_at)
        return {whole, false};
    return {want_.give_up_at, true};
}

attempts::open_request attempts::begin_request(time_point deadline) {
    const open_request sent{settled_at_, unanswered_until_};
    settled_at_ = std::max(settled_at_, deadline);
    unanswered_until_ = std::max(unanswered_until_, deadline);
    return sent;
}

void attempts::note_failure(const open_request& sent, const error_code& failure) {
    if (!was_not_carried_out(failure))
        return;
    settled_at_ = sent.settled_before;
    unanswered_until_ = sent.unanswered_before;
}

void attempts::note_reply(const open_request& sent, const attempt& got) {
    learn_clock(got);
    // Remember earlier requests that may still be on their way before their deadlines, because this
    // reply says nothing about them. A "late" reply says nothing about the lock either: the script
    // sends this reply before it examines the lock.
    const bool looked = got.said != verdict::late && !got.not_looked_at;
    const bool tells_all = looked && got.sent_at > sent.unanswered_before;
    unanswered_until_ = tells_all ? none : sent.unanswered_before;
}

void attempts::learn_clock(const attempt& got) {
    if (!got.clock || got.server_now == std::chrono::microseconds::zero())
        return;
    if (got.said == verdict::late)
        got.clock->forget();
    got.clock->learn(got.sent_at, got.received_at, got.server_now);
}

answer attempts::granted(const attempt& got) const {
    answer said{.granted = true, .term = want_.lease_time, .token = got.token};
    if (got.token != 0)
        said.tokens = want_.tokens;
    if (want_.kind == lock_kind::read)
        said.left_before = got.left;
    return said;
}

answer attempts::busy(const attempt& got, duration poll_bound, duration after_the_end) {
    if (!std::exchange(found_busy_, true) && is_told_)
        return {}; // the waiter has not subscribed yet: ask again at once
    if (!got.holder_tells)
        poll_bound = std::min(poll_bound, untold_poll_bound);
    if (got.heard_late)
        poll_bound = std::min(poll_bound, unheard_poll_bound);
    // Do not limit the pause if the waiter gets no notifications. Such a waiter chooses its own
    // pauses.
    duration term = is_told_ ? jittered(poll_bound, context_.random()) : duration::max();
    if (got.left) // a dead holder does not notify: wake when its lease ends
        term = std::min(term, *got.left + after_the_end);
    return {.term = term};
}

} // namespace holdfast::remote
