// SPDX-License-Identifier: Apache-2.0
#include "redis/link/establish.hpp"

#include "net/credentials.hpp"
#include "net/later.hpp"
#include "net/time_limit.hpp"
#include "redis/mutants.hpp"

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
    if (told.shown && !planted(mutant::clock_not_learnt))
        line.server_clock()->learn(sent_at, context.home.time.now(), *told.shown);
}

/// What ended the attempt, whatever that was: the loop that keeps a connection must go on.
net::failure present_trouble() {
    try {
        throw;
    } catch (const net::failure& why) {
        // No request was sent, whatever the server said.
        const bool unsure = why.code() == errc::outcome_unknown;
        return {unsure ? make_error_code(errc::unreachable) : why.code(), why.text()};
    } catch (const std::exception& why) {
        return {errc::unreachable, why.what()};
    } catch (...) {
        if (planted(mutant::provider_unwinds))
            throw;
        return {errc::unreachable, "an exception that is no std::exception"};
    }
}

} // namespace

asio::awaitable<std::optional<net::failure>> establish(node_context& context, purpose what_for,
                                                       connection& line, introduction& told) {
    auto give_up = [&line, length = context.how.connect_timeout] {
        line.cut({errc::unreachable, "not done within " + std::to_string(length.count()) + " ms (" +
                                         line.occupation() + ")"});
    };
    try {
        const time_point give_up_at =
            net::later(context.home.time.now(), context.how.connect_timeout);
        const net::time_limit limit{context.home, give_up_at, give_up};
        if (context.find) {
            line.occupied_with("waiting to learn where the primary is");
            co_await context.find(give_up_at);
        }
        co_await line.dial(context.where, give_up_at);
        co_await shake_hands(context, what_for, line, told);
        co_return std::nullopt;
    } catch (...) {
        const net::failure why = present_trouble();
        line.cut(why);
        if (context.in_trouble)
            context.in_trouble();
        const std::string address = line.to() ? line.to()->address : context.address();
        co_return std::make_optional<net::failure>(why.code(), "no connection to " + address +
                                                                   ": " + why.text());
    }
}

} // namespace holdfast::redis
