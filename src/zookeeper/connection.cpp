// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/connection.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Maximum number of bytes in an answer to a four-letter word (a server command). Useful answers
/// are shorter.
constexpr std::size_t words_most = 16 * 1024;

} // namespace

connection::connection(const store_context& home, const options& how)
    : byte_stream{home, how.command_timeout, "set tls=yes"}
    , reader_{how.reply_bytes_max} {}

void connection::take(std::string_view received) {
    if (!words_)
        reader_.feed(received);
    else if (words_->size() < words_most)
        words_->append(received);
}

std::optional<std::string_view> connection::next() {
    return is_cut() ? std::nullopt : reader_.next();
}

// Adds a hint to the error text, because a server that refuses a client closes the connection
// without an answer.
std::string connection::end_in_words(error_code why) const {
    std::string words = byte_stream::end_in_words(why);
    if (is_silent() && why == asio::error::eof)
        words += " before it sent anything; it may have no majority now, or require TLS (tls=yes)";
    return words;
}

asio::awaitable<std::string> connection::frame() {
    for (;;) {
        if (const auto come = next())
            co_return std::string{*come};
        co_await receive();
    }
}

asio::awaitable<std::string> connection::words() {
    words_.emplace();
    try {
        for (;;)
            co_await receive();
    } catch (const net::failure&) {
        if (words_->empty())
            throw;
    }
    co_return std::move(*words_);
}

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
        throw net::failure{store_errc::protocol, "an answer that does not belong to the login"};
    if (said.error != answered::well)
        throw failure_of(said.error, "the login");
}

asio::awaitable<void> say_farewell(connection& line) {
    line.occupied_with("ending the session before");
    compose(line.outbox(), 1, {.what = opcode::close_session});
    (void)co_await answer_to_outbox(line);
}

} // namespace holdfast::zookeeper
