// SPDX-License-Identifier: Apache-2.0
#include "store/redis/counter_place.hpp"

#include "store/redis/confirmation.hpp"
#include "store/redis/counter_requests.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Longest time between two requests while the subscription is not confirmed.
constexpr duration untold_bound = std::chrono::seconds{1};

/// Margin after the TTL of a key. Redis removes a key in the millisecond after the end of its TTL;
/// see place.cpp.
constexpr duration end_of_key_rounding{2};

ask in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

} // namespace

counter_place::counter_place(node& server, const store_context& context, denials& denied,
                             request_slots& slots, counter_ask want, alarm& wake)
    : server_{server}
    , context_{context}
    , denials_{denied}
    , slots_{slots}
    , want_{std::move(want)}
    , in_time_{in_time(want_)}
    , wake_{wake}
    , attempts_{context, in_time_, server.command_timeout()} {}

/// Frees the slot. The next request in the slot has a greater number, so the server ignores late
/// copies of this request.
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
    attempt got = co_await take_permits(server_, want_, as, server_deadline{deadline});
    denials_.note(in_time_, got);
    const auto leave_again = [&] { return revoke_permits(server_, want_, as); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

// Subscribes, and waits for the server's confirmation before the next request. In this way no
// release is missed: either the subscriber gets its notification, or the next request sees the
// release.
asio::awaitable<void> counter_place::listen() {
    const time_point now = context_.time.now();
    time_point patient_until = now;
    if (!ear_) {
        ear_ = server_.hear(channel_of(want_.name, want_.kind), wake_);
        patient_until = std::min(now + confirmation_patience, std::max(now, want_.give_up_at));
    }
    listening_ = co_await ear_->confirmed(patient_until);
}

asio::awaitable<void> counter_place::leave() {
    ear_.reset();
    if (!must_leave())
        co_return;
    const time_point deadline = context_.time.now() + server_.command_timeout();
    const request_slot where = co_await slots_.take(want_.name, want_.request.number, deadline);
    const remembered as{where, context_.request_memory};
    denials_.note(in_time_, co_await revoke_permits(server_, want_, as));
    attempts_.left();
}

} // namespace holdfast::redis
