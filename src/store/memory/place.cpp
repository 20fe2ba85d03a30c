// SPDX-License-Identifier: Apache-2.0
// How one client waits for one lock: ask; listen, ask again; sleep; ask.
#include "store/memory/place.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::memory {
namespace {

/// Who asks exactly when the lease ends may find it not quite over, and would spin.
constexpr duration after_the_end{1};

/// Waiters that slept the same time would all ask at the same moment: up to a fifth less.
duration jittered(duration bound, std::uint64_t random) {
    const auto fifth = static_cast<std::uint64_t>(bound.count()) / 5;
    return bound - duration{static_cast<duration::rep>(random % (fifth + 1))};
}

} // namespace

mutex_place::mutex_place(std::shared_ptr<link> way, const store_context& context, ask want,
                         alarm& wake)
    : link_{std::move(way)}
    , context_{context}
    , want_{std::move(want)}
    , wake_{wake} {}

asio::awaitable<answer> mutex_place::look() {
    const bool first = !std::exchange(looked_, true);
    if (found_busy_ && !ear_)
        listen();
    for (bool late_before = false;; late_before = true) {
        const time_point asked_at = link_->now();
        const limit until = next_limit(first);
        if (until.is_callers && until.at <= link_->now())
            co_return answer{};
        const verdict_on_look got = co_await ask_until(until.at);
        if (got.said == verdict::granted) {
            granted_ = true;
            co_return answer{.granted = true, .term = want_.lease_time};
        }
        if (got.said == verdict::busy)
            co_return busy(got.left);
        // Slow: the request spent its time on the way. Quick: what we knew of the server's clock
        // was wrong, and this answer has told us anew; so once more, and not for ever.
        const bool slow = link_->now() - asked_at >= link_->command_timeout() / 2;
        if (until.is_callers && (slow || late_before))
            co_return answer{.term = std::max(until.at - link_->now(), duration::zero())};
        if (slow)
            throw boost::system::system_error{make_error_code(errc::unreachable)};
        if (late_before)
            throw boost::system::system_error{make_error_code(errc::clock_unstable)};
    }
}

mutex_place::limit mutex_place::next_limit(bool first) const {
    const time_point whole = link_->now() + link_->command_timeout();
    if (first || whole <= want_.give_up_at)
        return {whole, false};
    return {want_.give_up_at, true};
}

asio::awaitable<verdict_on_look> mutex_place::ask_until(time_point deadline) {
    const time_point settled_before = std::exchange(settled_at_, std::max(settled_at_, deadline));
    const time_point unanswered_before =
        std::exchange(unanswered_until_, std::max(unanswered_until_, deadline));
    const hold& who = want_;
    const request asked{verb::look, who.name.text, {&who, 1}, want_.lease_time};
    std::function<verdict_on_look(server::state&)> execute =
        [want = want_, over_there = link_->server_clock().no_later_than(deadline)](
            server::state& server) { return server.look(want, over_there); };
    try {
        const auto got = co_await link_->call(asked, std::move(execute));
        if (got.said.said == verdict::late) {
            link_->server_clock().forget();
            link_->server_clock().learn(got.sent_at, got.received_at, got.server_now);
        }
        // Says nothing of an earlier request that is still on its way and in time; and "late" is
        // said before the lock is looked at.
        const bool tells_all = got.said.said != verdict::late && got.sent_at > unanswered_before;
        unanswered_until_ = tells_all ? none : unanswered_before;
        co_return got.said;
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != errc::outcome_unknown) { // never sent
            settled_at_ = settled_before;
            unanswered_until_ = unanswered_before;
        }
        throw;
    }
}

answer mutex_place::busy(std::optional<duration> left) {
    if (!std::exchange(found_busy_, true))
        return {}; // nobody listens yet: look again at once
    duration term = jittered(context_.poll_bound, context_.random());
    if (left) // a dead holder releases nothing: never sleep past its end
        term = std::min(term, *left + after_the_end);
    return {.term = term};
}

void mutex_place::listen() {
    auto heard = [this] {
        if (!link_->loses_wake_up())
            wake_.ring();
    };
    ear_ = std::make_unique<ear>(link_->far_end(), want_.name, context_.executor, heard);
}

asio::awaitable<void> mutex_place::leave() {
    ear_.reset();
    if (!granted_ && !uncertain())
        co_return;
    const hold who = want_;
    const request asked{verb::release, who.name.text, {&who, 1}};
    std::function<bool(server::state&)> execute = [who](server::state& server) {
        return server.release(who);
    };
    co_await link_->call(asked, std::move(execute));
    granted_ = false;
}

} // namespace holdfast::memory
