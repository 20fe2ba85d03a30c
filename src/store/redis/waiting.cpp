// SPDX-License-Identifier: Apache-2.0
#include "store/redis/waiting.hpp"

#include <holdfast/error.hpp>

#include <string_view>
#include <utility>

namespace holdfast::redis {

duration fair_timeout::of(const ask& want) const {
    const auto found = longer_.find(want.name.text);
    return found == longer_.end() ? want.outlasts : std::max(want.outlasts, found->second);
}

void fair_timeout::lost(const ask& want, bool in_time) {
    std::string_view text = "a waiter of a fair lock lost its place in the queue, because the "
                            "server could not be reached or was full for longer than "
                            "waiter_timeout; the waiter continues at the end of the queue";
    if (in_time) {
        text = "a waiter of a fair lock lost its place in the queue, although it had renewed the "
               "place in time: the server lost its data, or a JVM's clock is ahead by more than "
               "waiter_timeout; the waiter continues at the end of the queue, and its places now "
               "last twice as long";
        if (longer_.size() >= names_max)
            longer_.clear();
        longer_[want.name.text] = std::max(want.outlasts, std::min(2 * of(want), longest_));
    }
    if (context_.tell)
        context_.tell({.kind = event_kind::impaired,
                       .cause = event_cause::failed,
                       .name = want.name.text.data(),
                       .name_size = want.name.text.size(),
                       .text = text.data(),
                       .text_size = text.size()});
}

// A client that waits for a lock first asks for the lock, subscribes to its releases, and asks
// again. After that, it sleeps until a notification or a time limit, and asks again, until it gets
// the lock.

namespace {

using remote::unheard_poll_bound;

/// If the client subscribes before its first request, longest wait for the confirmation of the
/// subscription. The subscription can save a second request. A longer wait would cost more time
/// than this request.
constexpr duration early_confirmation_timeout{20};

/// Time that is added to the remaining TTL of a key. Redis removes a key in the millisecond after
/// the end of its TTL, and both clocks are rounded to milliseconds. So a request at the exact end
/// of the TTL would come too early.
constexpr duration expiry_rounding{2};

} // namespace

lock_place::lock_place(node& server, const store_context& context, missing_permissions& denied,
                       fair_timeout& timeout, remote::lately_busy& busy, presence_refresh* presence,
                       ask want, alarm& wake)
    : server_{server}
    , context_{context}
    , missing_permissions_{denied}
    , timeout_{timeout}
    , busy_{busy}
    , presence_{presence}
    , want_{std::move(want)}
    , how_{*verbs_of(want_.kind, server)}
    , wake_{wake}
    , attempts_{context, want_, server.command_timeout(), how_.told_on != nullptr} {
    if (how_.has_queue && want_.tokens > 1)
        want_.tokens = queue_tokens;
    if (how_.has_queue && want_.waits && want_.lease_time >= handed_over_lease)
        queue_.emplace();
}

asio::awaitable<answer> lock_place::look() {
    if (std::optional<answer> granted = grant_in_inbox())
        co_return *granted;
    const bool may_queue = want_.kind == lock_kind::fair || queue_;
    const bool expects_to_wait =
        may_queue && want_.waits && !was_busy_ && busy_.contains(want_.name.text);
    if (expects_to_wait) {
        co_await listen(early_confirmation_timeout);
        if (listening_)
            attempts_.listens_already();
    } else if (attempts_.found_busy() && how_.told_on) {
        co_await listen(confirmation_timeout);
    }
    duration bound =
        listening_ ? context_.poll_bound : std::min(context_.poll_bound, unheard_poll_bound);
    if (queue_ && queue_->is_open)
        bound = std::min(bound, queue_poll_bound);
    const duration own = remote::poll_bound_of(want_, bound);
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), own, expiry_rounding);
}

/// Sends one request. With a direct hand-off, the request adds the owner to the queue. If the owner
/// is in the queue already, the request updates the owner's entry.
asio::awaitable<attempt> lock_place::send(time_point deadline) {
    if (!queue_ || !queue_->is_open)
        co_return co_await send_outside_queue(deadline);
    const std::uint64_t number = ++queue_->requests;
    queue_->grant.clear();
    const attempt got =
        co_await lock_in_queue(server_, want_, {deadline, want_.give_up_at}, number);
    if (got.queued) {
        queue_->grant = grant_message(want_.owner, number);
        queue_->asked_at = got.sent_at;
    } else if (got.said == verdict::busy) {
        queue_.reset(); // the server did not add the owner, so releases must not count this client
    }
    co_return got;
}

/// Sends one request that does not join the queue. If the owner is already in the queue, the
/// owner's entry must be removed at the end. After this request, no message can grant the lock,
/// because the message may come from a former primary.
asio::awaitable<attempt> lock_place::send_outside_queue(time_point deadline) {
    if (queue_)
        queue_->grant.clear();
    attempt got = co_await how_.take(server_, want_, {deadline, want_.give_up_at});
    if (queue_ && queue_->requests > 0 && got.said == verdict::busy)
        got.queued = true;
    co_return got;
}

/// If a message has granted the lock to this owner, and no request must confirm the grant, returns
/// the grant. The message contains the number of the last request that got a reply. So the release
/// happened after that request, and the grant is valid for `handed_over_lease` from the time when
/// the request was sent. No clocks are compared. A message of a former primary usually has an older
/// number.
std::optional<answer> lock_place::grant_in_inbox() {
    if (!queue_ || !queue_->inbox || queue_->grant.empty() || attempts_.uncertain())
        return std::nullopt;
    const std::optional<std::uint64_t> token =
        token_in_grant(want_.kind, queue_->inbox->last_message(), queue_->grant);
    if (!token)
        return std::nullopt;
    queue_->grant.clear();
    if (!want_.renewed || want_.replicas > 0)
        return std::nullopt; // the next request confirms the grant with the whole lease
    attempts_.granted_by_message();
    answer got{.granted = true, .term = std::min(handed_over_lease, want_.lease_time)};
    got.counts_from = queue_->asked_at;
    got.token = *token;
    got.tokens = *token != 0 ? want_.tokens : 0;
    return got;
}

asio::awaitable<attempt> lock_place::request(time_point deadline) {
    want_.outlasts = timeout_.of(want_);
    remote::set_terms_of_mark(want_, context_.poll_bound, round_trip_);
    attempt got = co_await send(deadline);
    round_trip_ = got.received_at - got.sent_at;
    missing_permissions_.note(want_, got);
    note_place(got);
    note_whether_busy(got);
    if (presence_)
        presence_->follow();
    if (presence_ && (got.said == verdict::granted || got.queued))
        presence_->refresh(want_.lease_time, got.received_at);
    const auto leave_again = [this] { return how_.release(server_, want_); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

/// Records whether the first request found a fair lock busy. Ignores later requests. They do not
/// show whether the next waiter's first request will find the lock busy.
void lock_place::note_whether_busy(const attempt& got) {
    if ((want_.kind != lock_kind::fair && !queue_) || was_busy_ || got.said == verdict::late)
        return;
    was_busy_ = got.said == verdict::busy;
    busy_.note(want_.name.text, was_busy_);
}

/// Stores the time until which this waiter's entry in the queue of a fair lock lasts. If the entry
/// was lost, reports the loss.
void lock_place::note_place(const attempt& got) {
    if (!got.queued)
        return;
    if (attempts_.queued() && got.joined_now && !std::exchange(loss_told_, true))
        timeout_.lost(want_, got.sent_at < place_lasts_until_);
    if (!got.place_stays)
        place_lasts_until_ = got.sent_at + want_.outlasts;
}

// Subscribes, and waits for the server's confirmation before the next request. So no release is
// missed: a release after the confirmation notifies the subscriber, and the next request finds an
// earlier release.
asio::awaitable<void> lock_place::listen(duration timeout) {
    const time_point now = context_.time.now();
    time_point patient_until = now;
    if (!subscriber_) {
        subscriber_ = server_.hear(how_.told_on(want_), wake_, how_.afterwards);
        patient_until = std::min(now + timeout, std::max(now, want_.give_up_at));
    }
    listening_ = co_await subscriber_->confirmed(patient_until);
    if (queue_)
        co_await listen_in_queue(patient_until);
}

/// Subscribes to this client's inbox first, and then to the channel by which releases count the
/// clients in the queue. A client without an inbox must not be counted. It needs the messages that
/// go to all waiters, and a release sends these only if a waiting client is not counted.
asio::awaitable<void> lock_place::listen_in_queue(time_point limit) {
    if (!queue_->inbox)
        queue_->inbox = server_.hear(inbox(want_), wake_);
    const bool has_inbox = co_await queue_->inbox->confirmed(limit);
    if (!has_inbox)
        queue_->counted.reset();
    else if (!queue_->counted)
        queue_->counted = server_.hear(waiting_channel(want_.name), wake_);
    bool is_counted = false;
    if (queue_->counted)
        is_counted = co_await queue_->counted->confirmed(limit);
    queue_->is_open = listening_ && is_counted;
}

asio::awaitable<void> lock_place::leave() {
    subscriber_.reset();
    queue_.reset();
    if (!attempts_.must_leave())
        co_return;
    missing_permissions_.note(want_, co_await how_.release(server_, want_));
    attempts_.left();
}

namespace {

/// Longest time between two requests while the subscription is not confirmed.
constexpr duration untold_bound = std::chrono::seconds{1};

/// Time that is added to the remaining TTL of a key. Redis removes a key in the millisecond after
/// the end of its TTL; see `expiry_rounding`.
constexpr duration end_of_key_rounding{2};

ask in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

} // namespace

counter_place::counter_place(node& server, const store_context& context,
                             missing_permissions& denied, request_slots& slots, counter_ask want,
                             alarm& wake)
    : server_{server}
    , context_{context}
    , missing_permissions_{denied}
    , slots_{slots}
    , want_{std::move(want)}
    , in_time_{in_time(want_)}
    , wake_{wake}
    , attempts_{context, in_time_, server.command_timeout()} {}

/// Frees the slot of the request. The server then ignores late copies of this request, because the
/// next request in the slot has a higher number.
counter_place::~counter_place() {
    if (takes())
        slots_.over(want_.name, want_.request.number);
}

asio::awaitable<answer> counter_place::look() {
    if (attempts_.found_busy())
        co_await listen();
    const duration bound =
        listening_ ? context_.poll_bound : std::min(context_.poll_bound, untold_bound);
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), bound, end_of_key_rounding);
}

asio::awaitable<remote::attempt> counter_place::request(time_point deadline) {
    if (!takes())
        co_return co_await look_at_latch(server_, want_);
    const request_slot where = co_await slots_.take(want_.name, want_.request.number, deadline);
    const remembered as{where, context_.request_memory};
    attempt got = co_await take_permits(server_, want_, as, {deadline, want_.give_up_at});
    missing_permissions_.note(in_time_, got);
    const auto leave_again = [&] { return revoke_permits(server_, want_, as); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

// Subscribes, and waits for the server's confirmation before the next request. So no change is
// missed: a change after the confirmation notifies the subscriber, and the next request finds an
// earlier change.
asio::awaitable<void> counter_place::listen() {
    const time_point now = context_.time.now();
    time_point patient_until = now;
    if (!subscriber_) {
        subscriber_ = server_.hear(channel_of(want_.name, want_.kind), wake_);
        patient_until = std::min(now + confirmation_timeout, std::max(now, want_.give_up_at));
    }
    listening_ = co_await subscriber_->confirmed(patient_until);
}

asio::awaitable<void> counter_place::leave() {
    subscriber_.reset();
    if (!must_leave())
        co_return;
    const duration timeout = server_.command_timeout();
    const request_slot where = co_await slots_.take(want_.name, want_.request.number,
                                                    context_.time.now() + timeout, timeout);
    const remembered as{where, context_.request_memory};
    missing_permissions_.note(in_time_, co_await revoke_permits(server_, want_, as));
    attempts_.left();
}

namespace {

ask rate_in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

constexpr bool nobody_tells = false;

} // namespace

rate_place::rate_place(node& server, const store_context& context, missing_permissions& denied,
                       counter_ask want)
    : server_{server}
    , context_{context}
    , missing_permissions_{denied}
    , want_{std::move(want)}
    , in_time_{rate_in_time(want_)}
    , attempts_{context, in_time_, server.command_timeout(), nobody_tells} {}

asio::awaitable<answer> rate_place::look() {
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), context_.poll_bound, duration::zero());
}

/// Sends one request. The reply says how long to wait for the permits. Permits may become free
/// earlier, if the rate is raised or permits are returned. So the client asks again after
/// `poll_bound` at the latest.
asio::awaitable<remote::attempt> rate_place::request(time_point deadline) {
    attempt got =
        co_await take_rate(server_, want_, context_.request_memory, {deadline, want_.give_up_at});
    if (got.left)
        got.left = std::min(*got.left, context_.poll_bound);
    const auto leave_again = [this] { return give_back_rate(server_, want_); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

asio::awaitable<void> rate_place::leave() {
    if (!must_leave())
        co_return;
    missing_permissions_.note(in_time_, co_await give_back_rate(server_, want_));
    attempts_.left();
}

} // namespace holdfast::redis
