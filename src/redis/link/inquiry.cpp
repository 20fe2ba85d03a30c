// SPDX-License-Identifier: Apache-2.0
#include "redis/link/inquiry.hpp"

#include "net/time_limit.hpp"
#include "redis/wire/classify.hpp"
#include "redis/wire/composer.hpp"

#include <functional>
#include <utility>

namespace holdfast::redis {
namespace {

std::function<void()> giving_up(connection& line) {
    return [&line] {
        line.cut({errc::unreachable, "no answer in time (" + line.occupation() + ")"});
    };
}

asio::awaitable<void> send(connection& line) {
    if (!line.send())
        co_await line.send_rest();
}

/// A password that nobody wants is none that is wrong.
void judge_login(const reply& answer) {
    const bool is_unwanted = answer.text.find("without any password") != std::string::npos ||
                             answer.text.find("no password is set") != std::string::npos;
    if (answer.type == reply::kind::error && !is_unwanted)
        throw net::failure{classify(answer.text), "AUTH: " + answer.text};
}

asio::awaitable<void> log_in(connection& line, const credentials& who) {
    if (who.user.empty() && who.password.empty())
        co_return;
    composer to{line.outbox()};
    if (who.user.empty())
        to.request({"AUTH", who.password.reveal()});
    else
        to.request({"AUTH", who.user, who.password.reveal()});
    line.occupied_with("waiting for the answer to AUTH");
    co_await send(line);
    judge_login(co_await line.answer());
}

} // namespace

asio::awaitable<void> greet(const node_context& context, connection& line,
                            std::shared_ptr<const destination> to, credentials who,
                            time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    co_await line.dial(std::move(to), limit);
    co_await log_in(line, who);
}

asio::awaitable<std::vector<reply>> inquire(const node_context& context, connection& line,
                                            std::shared_ptr<const destination> to, credentials who,
                                            std::string words, std::size_t answers,
                                            time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    co_await greet(context, line, std::move(to), std::move(who), limit);
    line.occupied_with("waiting for its answer");
    line.outbox() += words;
    const time_point sent_at = context.home.time.now();
    co_await send(line);
    std::vector<reply> all;
    while (all.size() < answers) {
        all.push_back(co_await line.answer());
        all.back().sent_at = sent_at;
        all.back().received_at = context.home.time.now();
    }
    line.cut({errc::unreachable, "it has answered"});
    co_return all;
}

} // namespace holdfast::redis
