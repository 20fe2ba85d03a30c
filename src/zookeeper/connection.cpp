// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/connection.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Maximum length of the answer to a four-letter word, in bytes. Every useful answer is shorter.
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

// Adds a hint to the error text: a server that refuses a client closes the connection without an
// answer.
std::string connection::end_in_words(error_code why) const {
    std::string words = byte_stream::end_in_words(why);
    if (is_silent() && why == asio::error::eof)
        words += " before it said a word; it may serve nobody now, or want TLS (tls=yes)";
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

} // namespace holdfast::zookeeper
