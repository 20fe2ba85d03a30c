// SPDX-License-Identifier: Apache-2.0
#include "redis/link/connection.hpp"

#include "net/later.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::redis {

connection::connection(const store_context& home, const options& how)
    : byte_stream{home, how.command_timeout, "that is rediss://"}
    , reader_{how.reply_bytes_max,
              how.cluster ? answer_reader::items_max_in_cluster : answer_reader::items_max} {}

// Continues to read for a while after a failed write. A server that rejects a client sends the
// reason and closes the connection before it reads anything.
void connection::went_deaf(error_code why) {
    deaf_ = why;
    auto enough = [this] { cut({errc::unreachable, deaf_.message()}); };
    last_words_.emplace(home(), net::later(home().time.now(), patience()), enough);
}

std::string connection::end_in_words(error_code why) const {
    std::string words = byte_stream::end_in_words(why == asio::error::eof && deaf_ ? deaf_ : why);
    if (is_silent() && to()->unix_socket.empty())
        words += ", before it said a word; does it want TLS (rediss://)?";
    return words;
}

asio::awaitable<reply> connection::answer() {
    for (;;) {
        if (reply* const come = next())
            co_return std::move(*come);
        co_await receive();
    }
}

void connection::cut(net::failure why) {
    last_words_.reset();
    byte_stream::cut(std::move(why));
}

} // namespace holdfast::redis
