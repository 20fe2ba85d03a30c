// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/backoff.hpp"
#include "net/presence.hpp"
#include "redis/link/establish.hpp"
#include "redis/link/talker.hpp"
#include "redis/node_context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Reconnecting connection to a server. While its user (`talker`) needs a connection, the link
/// connects, does the handshake, and transfers requests and replies. After a loss it pauses and
/// connects again.
class link {
public:
    link(node_context&, purpose, talker&);
    link(const link&) = delete;

    /// Sends the requests of the talker. Connects if necessary. Requests that are added before the
    /// write go out in the same write.
    void talk();

    bool connected() const { return connected_; }

    /// Returns the estimate of the server's clock. Null without a connection.
    std::shared_ptr<runtime::remote_clock> server_clock() const {
        return connected_ ? line_->server_clock() : nullptr;
    }

    /// Ends the connection. Opens a new connection if the talker still needs it.
    void cut(net::failure why);

    /// Ends the connection because the server has another address now, and opens a new connection
    /// at once. Requests that were not sent yet wait for the new connection.
    void move(net::failure why);

    /// Ends the connection and its coroutines. The coroutines end soon after this call, and do not
    /// use the clock any more.
    void close();

private:
    /// Longest pause between two attempts to connect while this client holds any lock. The holder
    /// must learn soon whether its lock was lost with the server.
    static constexpr duration pause_max_while_holding{250};

    using shared_connection = std::shared_ptr<connection>;

    asio::awaitable<void> keep_connected(std::shared_ptr<void> keep);
    asio::awaitable<net::failure> converse(connection&);
    asio::awaitable<void> finish_sending(std::shared_ptr<void> keep, shared_connection);
    void attempt_failed(const net::failure& why);
    void conversation_begins(const introduction&);
    void conversation_ended(const net::failure& why);
    void pause();
    void gone(const std::string& address, const net::failure& why);
    void flush_soon();
    void flush();

    node_context& context_;
    const store_context& home_;
    const purpose purpose_;
    talker& talker_;
    net::presence presence_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> rest_;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to connect
    time_point connected_since_{};

    shared_connection line_; // the connection that is being opened or used
    bool running_ = false;   // whether keep_connected() runs
    bool connected_ = false;
    bool flush_is_due_ = false;
    bool moves_ = false; // whether move() ended the present attempt or connection
    bool closed_ = false;
};

} // namespace holdfast::redis
