// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "net/socket.hpp"
#include "net/time_limit.hpp"
#include "redis/destination.hpp"
#include "redis/wire/answer_reader.hpp"
#include "runtime/remote_clock.hpp"

#include <holdfast/redis/options.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Of a connection that ended in an orderly way.
inline constexpr const char* closed_by_server = "closed by the server";

/// One connection, from its making to its end; a new one is another object, so what belongs to an
/// old one cannot be taken for the new one's. Moves bytes and cuts them into answers; who waits for
/// which of them is not its business.
///
/// Whoever runs one of its loops keeps it alive meanwhile.
class connection {
public:
    connection(const store_context&, const options&);
    connection(const connection&) = delete;

    /// Shares the time out among the server's addresses. Throws `failure`: unreachable, or what
    /// tls_session throws.
    asio::awaitable<void> dial(std::shared_ptr<const destination>, time_point give_up_at);

    /// Where it leads, once it is dialled.
    const std::shared_ptr<const destination>& to() const { return to_; }
    /// By which of its addresses.
    const net::stream_endpoint& peer() const { return peer_; }

    /// What is composed here goes out with the next send().
    std::string& outbox() { return outbox_; }

    /// Writes the outbox, as much of it as the system takes at once. False: send_rest() must take
    /// care of the rest, and until it has there is no more to be sent.
    [[nodiscard]] bool send();
    asio::awaitable<void> send_rest();
    bool can_send() const { return !cut_ && !deaf_ && sent_ == sending_.size(); }

    /// Waits until something arrives; next() has it. Throws `failure` when the connection ends.
    asio::awaitable<void> receive();
    reply* next() { return cut_ ? nullptr : reader_.next(); }

    /// The next answer, however long it takes: for the talk before there is a pipeline.
    asio::awaitable<reply> answer();

    /// What is left of it for who moves bytes in another way: Asio knows the socket no more.
    struct parts {
        int socket;
        std::unique_ptr<net::tls_session> session; ///< null: plain
        std::shared_ptr<runtime::remote_clock> server_clock;
        std::shared_ptr<const destination> to;
    };
    parts take_apart();

    /// What is known of the clock at the other end: whoever reads an answer that tells the time may
    /// teach it. Of this connection alone, since the next one may lead to another server.
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }

    /// Ends it, and all loops on it. The first reason is the one that counts.
    void cut(net::failure why);
    bool is_cut() const { return cut_.has_value(); }

    /// What it is busy with, for whoever must tell why it took too long.
    void occupied_with(std::string what) { occupation_ = std::move(what); }
    const std::string& occupation() const { return occupation_; }

private:
    asio::awaitable<std::vector<net::stream_endpoint>> find_server();
    asio::awaitable<error_code> connect_to(net::stream_endpoint, time_point give_up_at);
    asio::awaitable<void> begin_tls();
    bool pack();
    void take_leave();
    std::string end_in_words(error_code) const;
    void went_deaf(error_code);
    void hang_up();
    void throw_if_cut() const;

    const store_context& home_;
    const options& how_; // of whoever keeps this connection
    const std::unique_ptr<alarm> look_up_alarm_;
    net::stream_socket socket_;
    std::shared_ptr<const destination> to_;
    net::stream_endpoint peer_;
    std::unique_ptr<net::tls_session> session_; // null: plain
    bool heard_ = false;                        // a single byte
    std::optional<net::failure> cut_;
    error_code deaf_;                           // why the server hears us no more
    std::optional<net::time_limit> last_words_; // for what it has still to say then
    std::string occupation_;
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();

    std::string outbox_;
    std::string sending_;  // stays where it is while it is being written
    std::size_t sent_ = 0; // of sending_
    answer_reader reader_;
    std::array<char, 64 * 1024> inbox_;
};

} // namespace holdfast::redis
