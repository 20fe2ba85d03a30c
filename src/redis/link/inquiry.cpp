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

/// Returns whether the server refused the password because the server has none. In that case the
/// password is not wrong.
bool is_unwanted(const reply& refusal) {
    return refusal.text.find("without any password") != std::string::npos ||
           refusal.text.find("no password is set") != std::string::npos;
}

/// Logs in. Returns the error if the login was refused and `may_be_refused` is set.
asio::awaitable<std::string> log_in(connection& line, const login& how) {
    const credentials& who = how.who;
    if (who.user.empty() && who.password.empty())
        co_return std::string{};
    composer to{line.outbox()};
    if (who.user.empty())
        to.request({"AUTH", who.password.reveal()});
    else
        to.request({"AUTH", who.user, who.password.reveal()});
    line.occupied_with("waiting for the answer to AUTH");
    co_await send(line);
    const reply said = co_await line.answer();
    if (said.type != reply::kind::error || is_unwanted(said))
        co_return std::string{};
    if (!how.may_be_refused)
        throw net::failure{classify(said.text), "AUTH: " + said.text};
    co_return "AUTH: " + said.text;
}

/// Throws the earlier login error if the server now demands a login. Such a server refuses all
/// requests without a login.
void judge_unknown_user(const reply& answer, const std::string& refusal) {
    if (!refusal.empty() && answer.type == reply::kind::error && answer.text.starts_with("NOAUTH"))
        throw net::failure{store_errc::not_authenticated, refusal};
}

} // namespace

asio::awaitable<std::string> greet(const node_context& context, connection& line,
                                   std::shared_ptr<const destination> to, login how,
                                   time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    co_await line.dial(std::move(to), limit);
    co_return co_await log_in(line, how);
}

asio::awaitable<std::vector<reply>> inquire(const node_context& context, connection& line,
                                            std::shared_ptr<const destination> to, login how,
                                            std::string words, std::size_t answers,
                                            time_point limit) {
    const net::time_limit bound{context.home, limit, giving_up(line)};
    const std::string refusal = co_await greet(context, line, std::move(to), std::move(how), limit);
    line.occupied_with("waiting for its answer");
    line.outbox() += words;
    const time_point sent_at = context.home.time.now();
    co_await send(line);
    std::vector<reply> all;
    while (all.size() < answers) {
        all.push_back(co_await line.answer());
        judge_unknown_user(all.back(), refusal);
        all.back().sent_at = sent_at;
        all.back().received_at = context.home.time.now();
    }
    line.cut({errc::unreachable, "it has answered"});
    co_return all;
}

} // namespace holdfast::redis
