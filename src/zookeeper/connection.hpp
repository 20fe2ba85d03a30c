// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "net/socket.hpp"
#include "net/tls_context.hpp"
#include "zookeeper/wire/frame_reader.hpp"

#include <holdfast/address.hpp>
#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// One server, as it is reached.
struct destination {
    destination(server_address, const std::optional<tls_options>&);

    const server_address where;
    const std::string address;                   ///< for people
    const std::unique_ptr<net::tls_context> tls; ///< null: plain
};

/// One connection, from its making to its end; a new one is another object, so what belongs to an
/// old one cannot be taken for the new one's. Moves bytes and cuts them into frames.
///
/// Whoever runs one of its loops keeps it alive meanwhile.
class connection {
public:
    connection(const store_context&, const options&);
    connection(const connection&) = delete;

    /// Shares the time out among the server's addresses. Throws `net::failure`: unreachable, or
    /// what tls_session throws.
    asio::awaitable<void> dial(const destination&, time_point give_up_at);

    /// What is composed here goes out with the next send().
    std::string& outbox() { return outbox_; }

    /// Writes the outbox, as much of it as the system takes at once. False: send_rest() must take
    /// care of the rest, and until it has there is no more to be sent.
    [[nodiscard]] bool send();
    asio::awaitable<void> send_rest();
    bool can_send() const { return !cut_ && sent_ == sending_.size(); }

    /// Waits until something arrives; next() has it. Throws `net::failure` when it ends.
    asio::awaitable<void> receive();
    std::optional<std::string_view> next();

    /// The next frame, however long it takes: for the talk before there is a session.
    asio::awaitable<std::string> frame();

    /// All that comes until the server hangs up, which has no frames: for a talk of one word.
    asio::awaitable<std::string> words();

    /// Ends it, and all loops on it. The first reason is the one that counts.
    void cut(net::failure why);
    bool is_cut() const { return cut_.has_value(); }

    /// What it is busy with, for whoever must tell why it took too long.
    void occupied_with(std::string what) { occupation_ = std::move(what); }
    const std::string& occupation() const { return occupation_; }

private:
    asio::awaitable<std::vector<net::stream_endpoint>> find(const destination&);
    asio::awaitable<error_code> connect_to(net::stream_endpoint, time_point give_up_at);
    asio::awaitable<void> begin_tls(const destination&);
    bool pack();
    void take(std::string_view received);
    void take_leave();
    std::string end_in_words(error_code) const;
    void hang_up();
    void throw_if_cut() const;

    const store_context& home_;
    const options& how_;
    const std::unique_ptr<alarm> look_up_alarm_;
    net::stream_socket socket_;
    std::unique_ptr<net::tls_session> session_; // null: plain
    bool heard_ = false;                        // a single byte
    std::optional<net::failure> cut_;
    std::string occupation_;

    std::string outbox_;
    std::string sending_;  // stays where it is while it is being written
    std::size_t sent_ = 0; // of sending_
    frame_reader reader_;
    std::optional<std::string> words_; // are read, and no frames
    std::array<char, 64 * 1024> inbox_;
};

} // namespace holdfast::zookeeper
