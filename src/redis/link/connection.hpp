// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/byte_stream.hpp"
#include "net/time_limit.hpp"
#include "redis/destination.hpp"
#include "redis/wire/answer_reader.hpp"
#include "runtime/remote_clock.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// One connection, whose bytes it cuts into answers; who waits for which of them is not its
/// business.
class connection final : public net::byte_stream {
public:
    connection(const store_context&, const options&);

    bool can_send() const { return !deaf_ && byte_stream::can_send(); }

    /// What receive() took.
    reply* next() { return is_cut() ? nullptr : reader_.next(); }

    /// The next answer, however long it takes: for the talk before there is a pipeline.
    asio::awaitable<reply> answer();

    struct parts : byte_stream::parts {
        std::shared_ptr<runtime::remote_clock> server_clock;
    };
    parts take_apart() { return {byte_stream::take_apart(), server_clock_}; }

    /// What is known of the clock at the other end: whoever reads an answer that tells the time may
    /// teach it. Of this connection alone, since the next one may lead to another server.
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }

    void cut(net::failure why) override;

private:
    void take(std::string_view received) override { reader_.feed(received); }
    void went_deaf(error_code) override;
    std::string end_in_words(error_code) const override;

    error_code deaf_;                           // why the server hears us no more
    std::optional<net::time_limit> last_words_; // for what it has still to say then
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();
    answer_reader reader_;
};

} // namespace holdfast::redis
