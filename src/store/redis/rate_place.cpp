// SPDX-License-Identifier: Apache-2.0
#include "store/redis/rate_place.hpp"

#include "store/redis/confirmation.hpp"
#include "store/redis/rate_requests.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

ask rate_in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

constexpr bool nobody_tells = false;

} // namespace

rate_place::rate_place(node& server, const store_context& context, denials& denied,
                       counter_ask want)
    : server_{server}
    , context_{context}
    , denials_{denied}
    , want_{std::move(want)}
    , in_time_{rate_in_time(want_)}
    , attempts_{context, in_time_, server.command_timeout(), nobody_tells} {}

asio::awaitable<answer> rate_place::look() {
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), context_.poll_bound, duration::zero());
}

/// Sends one request. The delay in the reply is exact, unless the rate is raised or a client gives
/// permits back. Because of these cases the next request comes after `poll_bound` at most.
asio::awaitable<remote::attempt> rate_place::request(time_point deadline) {
    attempt got =
        co_await take_rate(server_, want_, context_.request_memory, server_deadline{deadline});
    if (got.left)
        got.left = std::min(*got.left, context_.poll_bound);
    const auto leave_again = [this] { return give_back_rate(server_, want_); };
    co_await confirm(got, want_.replicas, leave_again);
    co_return got;
}

asio::awaitable<void> rate_place::leave() {
    if (!must_leave())
        co_return;
    denials_.note(in_time_, co_await give_back_rate(server_, want_));
    attempts_.left();
}

} // namespace holdfast::redis
