// SPDX-License-Identifier: Apache-2.0
// Steps of one client that waits for one lock: it asks, subscribes, asks again, sleeps, and asks
// again.
#include "store/redis/place.hpp"

#include "store/redis/confirmation.hpp"
#include "store/remote/mark.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

using remote::unheard_poll_bound;

/// Longest wait for the confirmation of a subscription before the first request. The early
/// subscription may save the second request. A longer wait would cost more time than that second
/// request.
constexpr duration early_confirmation_patience{20};

/// Margin after the TTL of a key. Redis removes a key in the millisecond after the end of its TTL,
/// and both clocks are rounded to milliseconds. A request after exactly the remaining time would
/// come too early.
constexpr duration expiry_rounding{2};

} // namespace

lock_place::lock_place(node& server, const store_context& context, denials& denied,
                       fair_patience& patience, remote::lately_busy& busy, heartbeat* heart,
                       ask want, alarm& wake)
    : server_{server}
    , context_{context}
    , denials_{denied}
    , patience_{patience}
    , busy_{busy}
    , heart_{heart}
    , want_{std::move(want)}
    , how_{*verbs_of(want_.kind)}
    , wake_{wake}
    , attempts_{context, want_, server.command_timeout(), how_.told_on != nullptr} {}

asio::awaitable<answer> lock_place::look() {
    const bool expects_to_wait = want_.kind == lock_kind::fair && want_.waits && !was_busy_ &&
                                 busy_.contains(want_.name.text);
    if (expects_to_wait) {
        co_await listen(early_confirmation_patience);
        if (listening_)
            attempts_.listens_already();
    } else if (attempts_.found_busy() && how_.told_on) {
        co_await listen(confirmation_patience);
    }
    const duration bound =
        listening_ ? context_.poll_bound : std::min(context_.poll_bound, unheard_poll_bound);
    const duration own = remote::poll_bound_of(want_, bound);
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), own, expiry_rounding);
}

asio::awaitable<attempt> lock_place::request(time_point deadline) {
    want_.outlasts = patience_.of(want_);
    remote::set_terms_of_mark(want_, context_.poll_bound, round_trip_);
    attempt got = co_await how_.take(server_, want_, server_deadline{deadline});
    round_trip_ = got.received_at - got.sent_at;
    denials_.note(want_, got);
    note_place(got);
    note_whether_busy(got);
    if (heart_ && (got.said == verdict::granted || got.queued))
        heart_->beat(want_.lease_time, got.received_at);
    const auto leave_again = [this] { return how_.release(server_, want_); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

/// Records whether the first request found a fair lock busy. Later requests say nothing about the
/// next waiter.
void lock_place::note_whether_busy(const attempt& got) {
    if (want_.kind != lock_kind::fair || was_busy_ || got.said == verdict::late)
        return;
    was_busy_ = got.said == verdict::busy;
    busy_.note(want_.name.text, was_busy_);
}

/// Records the state of the place in a fair lock's queue, and reports a lost place.
void lock_place::note_place(const attempt& got) {
    if (!got.queued)
        return;
    if (attempts_.queued() && got.joined_now && !std::exchange(loss_told_, true))
        patience_.lost(want_, got.sent_at < place_lasts_until_);
    if (!got.place_stays)
        place_lasts_until_ = got.sent_at + want_.outlasts;
}

// Subscribes, and waits for the server's confirmation before the next request. In this way no
// release is missed: either the subscriber gets its notification, or the next request sees the
// release.
asio::awaitable<void> lock_place::listen(duration patience) {
    const time_point now = context_.time.now();
    time_point patient_until = now;
    if (!ear_) {
        ear_ = server_.hear(how_.told_on(want_), wake_, how_.afterwards);
        patient_until = std::min(now + patience, std::max(now, want_.give_up_at));
    }
    listening_ = co_await ear_->confirmed(patient_until);
}

asio::awaitable<void> lock_place::leave() {
    ear_.reset();
    if (!attempts_.must_leave())
        co_return;
    denials_.note(want_, co_await how_.release(server_, want_));
    attempts_.left();
}

} // namespace holdfast::redis
