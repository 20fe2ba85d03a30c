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

/// One connection, which splits the received bytes into replies. It does not know which request a
/// reply belongs to.
class connection final : public net::byte_stream {
public:
    connection(const store_context&, const options&);

    bool can_send() const { return !deaf_ && byte_stream::can_send(); }

    /// Returns the next reply that receive() has read, or null.
    reply* next() { return is_cut() ? nullptr : reader_.next(); }

    /// Waits for the next reply, without a timeout. Used only before the connection has a pipeline.
    asio::awaitable<reply> answer();

    struct parts : byte_stream::parts {
        std::shared_ptr<runtime::remote_clock> server_clock;
    };
    parts take_apart() { return {byte_stream::take_apart(), server_clock_}; }

    /// Returns the estimate of the server's clock. Code that reads a reply with the server's time
    /// may update the estimate. Each connection has its own estimate, because the next connection
    /// may lead to another server.
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }

    void cut(net::failure why) override;

private:
    void take(std::string_view received) override { reader_.feed(received); }
    void went_deaf(error_code) override;
    std::string end_in_words(error_code) const override;

    error_code deaf_; // why writing failed
    // Time limit for reading the server's last replies after a failed write.
    std::optional<net::time_limit> last_words_;
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();
    answer_reader reader_;
};

} // namespace holdfast::redis
