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

/// Keeps one connection to the server as long as the talker wants one: makes it, sets it up, moves
/// the talk, and after a pause makes another when it is lost.
class link {
public:
    link(node_context&, purpose, talker&);
    link(const link&) = delete;

    /// There is something to say. Connects if need be; else it goes out with whatever else is ready
    /// by then, in one write.
    void talk();

    bool connected() const { return connected_; }

    /// Of the server at the other end; null: nobody is connected.
    std::shared_ptr<runtime::remote_clock> server_clock() const {
        return connected_ ? line_->server_clock() : nullptr;
    }

    /// Ends the connection; another is made if the talker wants one.
    void cut(net::failure why);

    /// Likewise, since the server is elsewhere: what is not sent yet waits for the next connection,
    /// which is made at once.
    void move(net::failure why);

    /// Ends everything. The loops end soon after, and do not touch the clock any more.
    void close();

private:
    /// While this client holds anything, no pause between two attempts is longer: what was lost
    /// with the server has to be told.
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
    time_point not_before_ = time_point::min(); // the next attempt
    time_point connected_since_{};

    shared_connection line_; // the one that is being made or used
    bool running_ = false;   // keep_connected
    bool connected_ = false;
    bool flush_is_due_ = false;
    bool moves_ = false; // the present attempt or connection ends for that reason
    bool closed_ = false;
};

} // namespace holdfast::redis
