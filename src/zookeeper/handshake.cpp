// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/handshake.hpp"

#include "zookeeper/wire/classify.hpp"

#include <string>

namespace holdfast::zookeeper {
namespace {

asio::awaitable<std::string> answer_to_outbox(connection& line) {
    if (!line.send())
        co_await line.send_rest();
    co_return co_await line.frame();
}

} // namespace

asio::awaitable<welcome> greet(connection& line, const greeting& said) {
    line.occupied_with("waiting for a session");
    compose_greeting(line.outbox(), said);
    const std::string frame = co_await answer_to_outbox(line);
    co_return read_welcome(frame);
}

asio::awaitable<void> log_in(connection& line, const credentials& who) {
    line.occupied_with("waiting for the answer to the login");
    compose_digest(line.outbox(), who);
    const std::string frame = co_await answer_to_outbox(line);
    jute_reader from{frame};
    const answer_head said = read_head(from);
    if (said.number != number_of::authentication)
        throw net::failure{store_errc::protocol, "an answer that is none to the login"};
    if (said.error != answered::well)
        throw failure_of(said.error, "the login");
}

asio::awaitable<void> say_farewell(connection& line) {
    line.occupied_with("ending the session before");
    compose(line.outbox(), 1, {.what = opcode::close_session});
    (void)co_await answer_to_outbox(line);
}

} // namespace holdfast::zookeeper
