// SPDX-License-Identifier: Apache-2.0
#include "redis/link/establish.hpp"

#include "net/attempt.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "net/time_limit.hpp"

#include <exception>
#include <utility>

namespace holdfast::redis {
namespace {

asio::awaitable<void> shake_hands(node_context& context, purpose what_for, connection& line,
                                  introduction& told) {
    handshake greeting{
        context.how,
        net::credentials_now({context.how.user, context.how.password}, context.how.credentials),
        context.home.label, what_for};
    greeting.compose(line.outbox());
    const time_point sent_at = context.home.time.now();
    if (!line.send())
        co_await line.send_rest();
    while (!greeting.awaited().empty()) {
        line.occupied_with("waiting for the answer to " + std::string{greeting.awaited()});
        const reply answer = co_await line.answer();
        greeting.judge(answer);
    }
    told = greeting.told();
    told.peer = line.peer();
    const std::string node_id = context.node_id ? context.node_id() : std::string{};
    if (!node_id.empty() && !told.node_id.empty() && told.node_id != node_id)
        throw net::failure{errc::unreachable,
                           "another node answers there than the one that the cluster named"};
    if (told.shown)
        line.server_clock()->learn(sent_at, context.home.time.now(), *told.shown);
}

} // namespace

asio::awaitable<std::optional<net::failure>> establish(node_context& context, purpose what_for,
                                                       connection& line, introduction& told) {
    try {
        const time_point give_up_at =
            net::later(context.home.time.now(), context.how.connect_timeout);
        const net::time_limit limit{context.home, give_up_at,
                                    net::give_up(line, context.how.connect_timeout)};
        if (context.find) {
            line.occupied_with("waiting to learn where the primary is");
            co_await context.find(give_up_at);
        }
        co_await line.dial(context.where, give_up_at);
        co_await shake_hands(context, what_for, line, told);
        co_return std::nullopt;
    } catch (...) {
        const net::failure why = net::trouble_of_attempt();
        line.cut(why);
        if (context.in_trouble)
            context.in_trouble();
        const std::string address = line.to() ? line.to()->address : context.address();
        co_return net::no_connection(address, why);
    }
}

} // namespace holdfast::redis
