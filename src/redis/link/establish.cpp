// SPDX-License-Identifier: Apache-2.0
#include "redis/link/establish.hpp"

#include "net/credentials.hpp"
#include "net/time_limit.hpp"

#include <utility>

namespace holdfast::redis {
namespace {

asio::awaitable<void> shake_hands(node_context& context, purpose what_for, connection& line) {
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
    if (what_for != purpose::commands)
        co_return;
    // Another server may answer at the same address now, with another clock.
    context.server_clock.forget();
    if (const auto shown = greeting.server_time())
        context.server_clock.learn(sent_at, context.home.time.now(), *shown);
}

} // namespace

asio::awaitable<std::optional<net::failure>> establish(node_context& context, purpose what_for,
                                                       connection& line) {
    const time_point give_up_at = context.home.time.now() + context.how.connect_timeout;
    auto give_up = [&line, length = context.how.connect_timeout] {
        line.cut({errc::unreachable, "not done within " + std::to_string(length.count()) + " ms (" +
                                         line.occupation() + ")"});
    };
    const std::string tried = "no connection to " + context.address + ": ";
    try {
        const net::time_limit limit{context.home.executor, context.home.time, give_up_at, give_up};
        co_await line.dial(give_up_at);
        co_await shake_hands(context, what_for, line);
        co_return std::nullopt;
    } catch (const net::failure& why) {
        line.cut(why);
        // No request was sent, whatever the server said.
        const bool unsure = why.code() == errc::outcome_unknown;
        const error_code code = unsure ? make_error_code(errc::unreachable) : why.code();
        co_return std::make_optional<net::failure>(code, tried + why.text());
    }
}

} // namespace holdfast::redis
